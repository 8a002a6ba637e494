"""Reach: how calls in the user's program come to pullback, where NumPy has no protocol for them.

A transformation exchanges the code of the functions that it reaches for code in which each call
site asks what to call, and puts their own code back when it ends. `walk` shows it in an example.

Code that asks:

    bytecode         call sites that ask what they call
    code_tables      the tables of lines and exception handlers in a code object
    of_code          what is found out about a code object, as long as it lives
    harmless         which call sites don't have to ask
    call_tables      the tables that they ask, by number of arguments
    exchange         functions get code that asks, and their own code again

Which code:

    namespaces       which function replaces which, and which code takes part
    session          what lasts as long as an outermost transformation
    walk             the functions, classes and objects that a transformation reaches
    class_members    the functions of a class, remembered between sessions
    calls            the user's function, called as a part of a transformation
    instrument       public functions that control reach

What is called instead:

    resolve          which function a call site calls, for each kind of callable
    stand_ins        functions that call back, store or make text
    compiled_code    compiled code of other packages, and the arguments that it gets
    clocks           clocks
    containers       containers of compiled code, which keep the Arrays that they are given
    lru_caches       functions wrapped in `lru_cache`
    numba_functions  functions compiled by numba, called as the Python functions beneath them
    plum_dispatch    functions that plum chooses by the types of their arguments
    readers          code that may read numbers from text that was made of Arrays
    threads          functions that run in other threads, and errors that end only those
    twins            copies of functions whose own code must stay unchanged

What isn't a call:

    matching         which objects `match` treats as sequences, and `is` between truth values
    stores           what that code stores in objects and containers
    private_arrays   plain arrays that nobody else sees, which take what is traced
"""
