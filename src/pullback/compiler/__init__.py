"""compile: from a call to machine code that replays it.

The rooms, in the order in which a program passes through them (a room imports only from rooms
above it and from `llvm`):

    llvm        LLVM text -> machine code; knows no graph
    facts       what a function reads besides its arguments and what it may do
    graph       Graph -> Graph: rewriting, one pass a file
    lower       Graph -> LLVM text
    loops       a repetition in a graph becomes one `scan`
    record      one call as a graph with its guards, and whether it may stand for later calls
    entry       Python -> machine code, without Python
    pipeline    the order of what `graph`, `loops` and `lower` do, for running and exporting
    program     a graph as a callable
    path        a recording with the guard answers that lead to it
    fall_back   how an error of ours while machine code is made is told
    first_call  run calls in Python until recording pays, with their long loops compiled
    disk        cached artifacts for later processes (optional)
    call        what `compile` returns
"""
