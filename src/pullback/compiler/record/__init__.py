"""One call becomes a graph with guards; a verdict says whether it may stand for later calls.

asked_names    names that code may ask for
compile_trace  the trace that records, and its guards
own_code       what operations may do: run the user's code, raise
recording      one traced run of a call
carried        state that a function reads, changes and stores
loop_tests     where code tests whether a loop continues
stage_inner    differentiated functions, recorded first and rolled
frame_state    what a frame holds at the test of a `while`
while_loops    a `while` of Python's as one equation
gated          such a loop waits for the guards before it
verify         whether a rehearsal did what the function then did
"""
