"""Turn a graph into LLVM text: plan, kernels, loops, calls of libraries.

The plan:

    role              what an equation becomes: a loop, a reduction, a view, a call of NumPy
    sparse_rows       sums over the rows of a sparse array
    geometry          the place of a value's elements in memory: buffer, offset, strides
    schedule          which items are done together, and in which order
    plan              the complete plan of a graph
    memory            the arena of intermediate values
    join_scatter      parts written directly to their place in a joined array
    matmul_axes       matrix products found in the labels of einsum
    matmul_layout     memory layout of the operands and results of matrix products

Elements and the loops over them:

    elements          numbers and vectors in LLVM's text, and where they are in memory
    emit              the interface that `lower` rules call
    complex_numbers   complex arithmetic
    exp_log           exponentials and logarithms of vectors
    complex_exp_log   likewise of complex numbers
    powers            constant powers
    quotients         floors of quotients, and remainders
    infinities        infinities that slopes have rounded
    special           functions of scipy.special
    gather            reads and writes at arrays of integers
    kernel_operands   what a kernel reads and writes, and what decides its text
    loop_layout       loops of programs, and inner loops of NumPy's functions, in the plan
    loop_space        the axes of a kernel, and the width of its vectors
    loop_kernel       equations on elements, and reductions of them
    row_pen           rows of elements in memory
    partials          partial results of reductions
    reduction_tree    the order in which partial results are added
    extreme_places    argmax and argmin of long rows
    scalars           equations of one element each

Other functions:

    text              functions of numbers with loops
    cumulative        cumulative sums and products
    convolve_search   convolutions, and places in sorted arrays
    small_matrices    systems, inverses, determinants and Cholesky factors
    inner_loops       calls of NumPy's inner loops and sorting functions
    lapack_calls      calls of LAPACK by the factors of a matrix
    routine_calls     calls of routines of SciPy's LAPACK
    gemm              matrix products in our own code
    blas              matrix products by BLAS
    loop_text         loops that call the functions of their bodies
    scan, while_      `scan` and `while` prepared for the plan

Putting everything together:

    addresses         addresses of buffers in one function
    module            the text of a program
    driver            one function that runs all segments
"""
