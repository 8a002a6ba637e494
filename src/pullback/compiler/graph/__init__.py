"""Passes from graph to graph.

rewriting         how passes are written: a rule for each equation
optimise          all passes in order; folding, sharing, simplifying
store_forwarding  reads of what was assigned before
contractions      sums of products and stacks of matrix products
complex_parts     complex matrix products as four real ones
decompose         lower functions that existing loops can express
moved             find arrays with the same elements in the same places
partly_used       compute only the parts of results that are used
real_spectra      complex Fourier transforms in filters of real arrays become real transforms
composed_values   replace operations by the operations they're composed of
zero_rows         skip rows of tangents that are structurally zero
small_systems     linear systems small enough for code of our own
factors           factor a matrix once for all that is asked of it
"""
