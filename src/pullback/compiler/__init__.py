"""compile: from a call to machine code that replays it.

The modules and packages below are listed so that each imports only from those above it. `How
compile works` in the documentation has them in the order in which a call passes through.

    fall_back   report an error inside the compiler, and go on in Python
    llvm        LLVM text -> machine code; knows no graph
    facts       what a function reads besides its arguments, and which effects it has
    graph       Graph -> Graph: rewriting, one pass a file
    lower       Graph -> LLVM text
    loops       turn repetitions in a graph into one `scan`
    record      one call as a graph with its guards, and whether it's valid for later calls
    entry       call machine code from Python, with checks that are machine code as well
    pipeline    the order of the steps of `graph`, `loops` and `lower`, for running and exporting
    program     a graph as a callable
    path        a recording with the guard answers that lead to it
    ways        replay a path in machine code alone
    first_call  run calls in Python until recording pays, with their long loops compiled
    disk        cached artifacts for later processes (optional)
    call        what `compile` returns
"""
