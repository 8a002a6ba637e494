"""The engine without any operation: values in flight, traces, primitives and their kinds.

Values:

    spec        Spec(shape, dtype): what is known before there are values
    layout      the memory layout of arrays: strides, order, views
    named       positional arguments turned into keyword arguments
    array       Array: a value in flight, and the eager array
    tree        nested containers of arrays
    straight    a shortcut from NumPy's functions in rules to primitives
    scalars     numbers, as a ufunc takes them
    cotangent   dense, masked and scattered cotangents
    lines       which rows of the operands affect which rows of the result
    errors      what pullback raises

Traces and operations:

    trace       which active transformation interprets an operation
    primitive   primitives and their kinds
    rules       the rules of nodes, looked up once, when a primitive is declared
    templates   functions generated for the number of their operands
    traits      properties of an operation besides its rules
    node        one operation of a reverse trace
    graph       a recorded program
    dispatch    NumPy function -> implementation
    operators   Python's operators and their ufuncs
    out         results written into an array: `out=`, and `a += x`
    overlaps    an array that is written into itself
    locked      arrays that are read-only
    past        NumPy's functions for plain arrays, called without its protocol
    quiet       no warnings from rules
    during      variables of the context with another value for a while
    heap        freed memory stays with the process
    differences  central differences, and how close results are
    names_elsewhere  names in other libraries, and what to write here
    other_names  errors for unknown names
    usage       errors for calls that don't fit a public function
    messages    how messages show what was given or returned
    declared    errors for primitives that users declare

Reaching the program's code:

    namespaces  which function replaces which, and which code takes part
    bytecode    call sites that ask what they call
    callees     the tables that these call sites ask, by number of arguments
    code_tables  the tables of lines and exception handlers in a code object
    names_now   which call sites don't have to ask
    stores      what that code stores in objects and containers
    private     plain arrays that nobody else sees, which take what is traced
    matching    which objects `match` treats as sequences
    members     the functions of a class, remembered between sessions
    reach       the code that a transformation reaches
    resolve     which function a call site calls
    threads     functions that run in other threads, and errors that end only those
    clocks      replacements for clocks
    chosen      replacements for compiled dispatch by the types of arguments (plum)
    keepers     containers of compiled code, which keep the Arrays that they are given
    kept_results  functions wrapped in `lru_cache`
    instrument  public functions that control reach
    instances   objects of classes that derive from ndarray or float
    instance_methods  the methods and operators of these objects
    rest        what a module of ours has from the one that it stands in for
    jitted      functions compiled by numba, called as the Python functions beneath them
    twins       copies of functions whose own code must stay unchanged
    foreign     errors raised by other code that was given an Array
    leftover    Arrays that outlive their trace
    lost        places where a derivative was lost
    narrowing   searches by comparisons, found by the numbers that they compare
    mapped_text  text made from a mapped Array, which can't be used for decisions
    shutdown    the end of the process
"""
