"""What functions that solve or integrate have in common.

plain       SciPy's own call on plain values, for each example of a batch
implicit    a solution as one operation, differentiated by the implicit function theorem
undetermined  parts of a result without a rule: an error if they are differentiated
motion      SciPy's compiled code with the rules of a NumPy program
following   functions of arrays that a NumPy program describes; indices that are locally constant
serving     how a rule is entered for SciPy's function, and what stands for a module of SciPy's
leaves      how a rule is entered for compiled code inside SciPy
namespace   SciPy's wrapping of NumPy for several array libraries
"""
