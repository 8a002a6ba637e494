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

The program's code:

    reach       how calls come to pullback where NumPy has no protocol for them: a folder
    instances   objects of classes that derive from ndarray or float
    instance_methods  the methods and operators of these objects
    mapped_text  text made from a mapped Array, which can't be used for decisions

Nothing is lost in silence:

    foreign     errors raised by other code that was given an Array
    leftover    Arrays that outlive their trace
    lost        places where a derivative was lost
    narrowing   searches by comparisons, found by the numbers that they compare
    shutdown    the end of the process
"""
