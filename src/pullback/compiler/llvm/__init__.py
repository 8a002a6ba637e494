"""LLVM text becomes machine code. Knows no graph.

pen            writes LLVM's text
dtypes         dtypes under LLVM's names
symbols        functions that machine code calls by name
binding        LLVM through llvmlite: text in, addresses out
disk_cache     machine code on disk
object_loader  object files in memory, without LLVM
cpu            what this processor can do
content_hash   a hash of memory, for machine code and for Python
array_memory   memory of large results, reused
thread_pool    threads for large loops
numpy_loops    the C functions behind NumPy's ufuncs and sorting
lapack         LAPACK's routines for the factors of a matrix
routines       routines of SciPy's LAPACK
"""
