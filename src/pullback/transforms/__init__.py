"""The transformations: each file one trace, its user functions and its errors.

Ways to run a function:

    reverse     vjp, grad, value_and_grad
    backward    the backward pass
    forward     jvp
    linearize   linearize: one run, and tangents pushed through what it did
    batch       vmap
    eager       array, backward, no_grad
    stage       functions recorded as graphs
    record      what a function did, operation by operation
    loops       scan, fori_loop, while_loop
    derived     jacobian, hessian, hvp, elementwise_grad
    nans        debug_nans

Rules of the user's:

    extend      primitive: an operation of the user's
    custom      custom_vjp, custom_jvp
    call        functions as one operation: checkpoint, stop_gradient
    of_program  rules that differentiate a NumPy program in place of an operation

Arguments and results:

    transformation  transformed functions, and what can be transformed
    arguments   differentiated arguments: which they are, and their leaves as values
    lifted      the same in reverse mode, and the cotangents that they receive
    seeds       the tangents and cotangents that a caller gives
    returned    results, taken off their trace or refused
    conversions  the line that makes an array of an object of another library, for messages
    retained    gradients that Arrays keep
    memory      the memory that functions share with their arguments, and write into

What the traces share:

    meeting     which operands need no cast, which results have a derivative
    examples    a batch taken apart and put together
    mapped_numbers  Python numbers under vmap
    searched    whether a search by comparisons has lost the derivative of its result
"""
