"""Passes from graph to graph.

rewriting         how passes are written: a rule for each equation
optimise          all passes in order; folding, sharing, simplifying
store_forwarding  reads of what was assigned before
contractions      sums of products and stacks of matrix products
complex_parts     complex matrix products as four real ones
decompose         lower functions that existing loops can express
moved             arrays of the same elements in the same places
partly_used       operations of which only a part is used
real_spectra      filters of real arrays by complex Fourier transforms, done by real ones
composed_values   operations that are composed of others, done by these
zero_rows         rows of tangents that are zero by structure
small_systems     linear systems small enough for code of our own
"""
