"""Python calls machine code: object layouts, checks of arguments and state.

object_layout   the memory layout of CPython's and NumPy's objects
native_records  the tables that machine code reads, and the builtin functions that use them
conditions      checks of arguments, state and guards
state_checks    the places of a token as rows for these checks
python_calls    calls of NumPy between two segments
entry           the functions that Python calls
c_function      programs as C functions, for other libraries' compiled code
"""
