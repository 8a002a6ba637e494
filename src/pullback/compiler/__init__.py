"""compile: from a call to machine code that repeats it.

The rooms, in the order in which a program passes through them (a room imports only from rooms
above it and from `llvm`):

    llvm     LLVM text -> machine code; knows no graph
    facts    what a function reads besides its arguments and what it may do
    graph    Graph -> Graph: rewriting, one pass a file
    lower    Graph -> LLVM text
    loops    a repetition in a graph becomes one `scan`
    record   one call as a graph with its guards, and whether it may stand for later calls
    entry    Python -> machine code, without Python
    pipeline the order of what `graph`, `loops` and `lower` do, for all who compile
    program, path, first_call
             a graph as a callable; a recording with the answers that lead to it
    disk     what later processes find (optional)
    call     what `compile` returns
"""
