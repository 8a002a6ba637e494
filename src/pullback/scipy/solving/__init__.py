"""What functions that solve or integrate have in common.

plain       SciPy's own call on plain values, for each example of a batch
implicit    a solution as one operation, with the derivative of what it is
serving     how a rule is entered for SciPy's function, and what stands for a module of SciPy's
"""
