"""A graph becomes LLVM text: plan, kernels, loops, calls of libraries."""
