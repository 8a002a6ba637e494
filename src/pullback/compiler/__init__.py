"""compile: from a call to machine code that replays it.

The rooms, in the order in which they are built on each other: a room imports only from rooms above
it. `How compile works` in the documentation has them in the order in which a call passes through.

    fall_back   report an error inside the compiler, and go on in Python
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
    ways        how machine code repeats a path by itself
    first_call  run calls in Python until recording pays, with their long loops compiled
    disk        cached artifacts for later processes (optional)
    call        what `compile` returns
"""
