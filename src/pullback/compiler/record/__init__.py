"""Record one call as a graph with guards, and decide whether it's valid for later calls.

asked_names    attribute names that code may look up
compile_trace  the trace that records
guards         what Python asked of values, and the answers
python_numbers  operations of Python's numbers, done as Python does
own_code       which operations may run the user's code or raise
recording      one traced run of a call
caught         errors that the program catches
carried        state that a function reads, changes and stores
loop_tests     where code tests whether a loop continues
stage_inner    differentiated functions, recorded first and rolled
frame_state    the state of a frame at the test of a `while`
while_loops    a Python `while` as one equation
gated          loops that depend on the guards before them
verify         whether the function did the same as its rehearsal
"""
