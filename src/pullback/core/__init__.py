"""The engine without any operation: values in flight, traces, primitives and their kinds.

Values:

    spec        Spec(shape, dtype): what is known before there are values
    layout      how arrays lie in memory
    named       arguments that were given by their place, by their names
    array       Array: a value in flight, and the eager array
    tree        nested containers of arrays
    straight    rules on Arrays: the short way from NumPy's functions to primitives
    cotangent   dense, masked and scattered cotangents
    lines       what of operands is read for what of a result is there
    errors      what pullback raises

Traces and operations:

    trace       which active transformation interprets an operation
    primitive   primitives and their kinds
    rules       the rules of nodes, resolved when a primitive is declared
    templates   functions generated for the number of their operands
    traits      what an operation is besides its rules
    node        one operation of a reverse trace
    graph       a recorded program
    dispatch    NumPy function -> implementation
    operators   Python's operators and the ufuncs that do them
    out         results written into an array: `out=`, and `a += x`
    past        NumPy's functions for plain arrays, without its protocol
    quiet       no warnings from rules
    names_elsewhere  what other libraries call things, and what to write here
    other_names  the errors of names that we do not have
    keywords    those of keywords

Reaching the program's code:

    namespaces  what stands for what, and whose code it is
    bytecode    call sites that ask what they call
    callees     what they call, by the number of arguments
    code_tables  the tables of lines and exception handlers in a code object
    names_now   which call sites need not ask
    stores      what that code puts into objects and containers
    matching    what `match` takes for a sequence
    members     what a class holds for Python to call, kept from one session to the next
    reach       the code that a transformation reaches
    resolve     what a call site calls
    clocks      what stands for clocks
    chosen      what stands for compiled dispatch by the types of arguments (plum)
    kept_results  functions under `lru_cache`
    instrument  what users say about reach
    instances   objects of classes that derive from ndarray or float
    instance_methods  what they have of these
    jitted      functions that numba has compiled, called as the Python beneath them
    twins       functions that others read or call, called by a copy that takes part
    foreign     errors of foreign code that was given an Array
    leftover    Arrays that outlive their trace
    lost        derivatives lost on purpose or unseen
    mapped_text  text of a mapped Array, which answers no questions
    shutdown    the end of the process
"""
