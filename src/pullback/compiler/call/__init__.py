"""What `compile` returns, inside transformations and outside; export to C.

arguments           which leaves of a call are inputs, and the key of its cache entry
compiled            `compile`, and the object that it returns: which path a call takes
choose_path         the path whose state and guards hold for a call
record_call         rehearse a call, undo it, run it, and keep the recording if it's valid
postponed           finish a recording after its call
rehearsal           record a call, and undo what it did
budget              whether recording pays
call_kind           run a call like the previous one in Python at once
trial               whether machine code is faster than the function
in_transformation   choose the path for a call inside a transformation
path_node           a path in a transformation, as operations
second_derivatives  warn about second derivatives at kinks, as the function itself does
compound            a graph as one operation, with compiled rules
reasons             the texts of `f.why()` and `f.graph()`
export_c            an object file for programs without Python
c_header            its C header
"""
