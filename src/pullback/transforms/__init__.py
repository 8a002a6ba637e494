"""The transformations: each file one trace, its user functions and its errors.

common    arguments on their way in, results on their way out
conversions  the line that makes an array of an object of another library, for messages
forward   jvp, linearize
reverse   vjp, grad, value_and_grad
searched  whether a search by comparisons has lost the derivative of its result
lifted    differentiated arguments of reverse mode, and the cotangents that they receive
backward  the backward pass
returned  checks of what a differentiated function returned
meeting   which operands need no cast, which results have a derivative
batch     vmap
examples  a batch taken apart and put together
mapped_numbers  Python numbers under vmap
stage     functions recorded as graphs
record    what a function did, operation by operation
eager     array, backward, no_grad
retained  gradients that Arrays keep
derived   jacobian, hessian, hvp, elementwise_grad
of_program  rules that differentiate a NumPy program in place of an operation
call      functions as one operation: checkpoint, stop_gradient
memory    the memory that these functions share with their arguments, and write into
custom    custom_vjp, custom_jvp
extend    primitive: an operation of the user's
loops     scan, fori_loop, while_loop
nans      debug_nans
"""
