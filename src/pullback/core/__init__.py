"""The engine without any operation: values in flight, traces, primitives and their kinds.

Values:

    array       Array: a value in flight, and the eager array
    storage     the memory behind an Array, and its views
    writes      writes into views
    spec        Spec(shape, dtype): what is known before there are values
    layout      the memory layout of arrays: strides, order, views
    locked      arrays that are read-only
    overlaps    an array that is written into itself
    scalars     numbers, as a ufunc takes them
    tree        nested containers of arrays
    instances   objects of classes that derive from ndarray or float
    in_place    what stands for an object of another library and shows its class
    instance_methods  the methods and operators of these objects

Traces and operations:

    trace       which active transformation interprets an operation
    primitive   an operation with all its rules
    kinds       kinds of primitives: Elementwise, Linear, Multilinear
    traits      properties of an operation besides its rules
    rules       the rules of nodes, looked up once, when a primitive is declared
    templates   functions generated for the number of their operands
    rows        which rows of the operands affect which rows of the result
    cotangent   dense, masked and scattered cotangents
    sums        sums of cotangents, by products with ones
    node        one operation of a reverse trace
    graph       a recorded program

From NumPy's functions to operations:

    registry    NumPy function -> implementation
    dispatch    the NumPy protocols, which look functions up
    operands    what may stand beside an Array, or hold some
    operators   Python's operators and their ufuncs
    refusals    errors of calls that NumPy refuses, too
    out         results written into an array: `out=`, and `a += x`
    rule_forms  other forms of rules: for Arrays, and for plain arrays of float64
    plain_numpy  NumPy's functions for plain arrays, called without its protocol
    reach       how calls come to pullback where NumPy has no protocol for them: a folder

Nothing is lost in silence:

    lost        places where a derivative was lost
    narrowing   searches by comparisons, found by the numbers that they compare
    written_numbers  numbers that text made of Arrays shows, and what reads them again
    mapped_text  text made from a mapped Array, which can't be used for decisions
    foreign     errors raised by other code that was given an Array
    leftover    Arrays that outlive their trace
    silence     no warnings of one thread

What errors say:

    errors      what pullback raises
    messages    how messages show what was given or returned
    usage       errors for calls that don't fit a public function
    declared    errors for primitives that users declare
    other_names  errors for unknown names
    names_elsewhere  names in other libraries, and what to write here

Around them:

    temporary   change a context variable or a list, or hold a lock, for the length of a `with`
    quiet       no warnings from rules
    differences  central differences, and how close results are
    heap        freed memory stays with the process
    shutdown    the end of the process
"""
