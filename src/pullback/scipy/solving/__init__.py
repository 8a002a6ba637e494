"""Shared machinery of functions that solve or integrate.

plain       SciPy's own call on plain values, for each example of a batch
operation   a solver call as one operation of a recording
results     SciPy's result objects to arrays, and back
unread      arrays in a result whose length the solver chooses
rules       the derivative rule of such a call, recorded as operations
programs    a function of the user's, recorded once and called by SciPy many times
questions   decisions that such functions make about values
lent        traces whose operations another one writes down
branches    a function that branches on its arguments, for all values at once
merged      the programs of a function with branches, as one program
in_c        such a program as a C function
watching    what a recording notes while SciPy solves
implicit    a solution as one operation, differentiated by the implicit function theorem
families    solutions that are one of a family, of which some results have derivatives
undetermined  parts of a result without a rule: an error if they are differentiated
motion      SciPy's compiled code with the rules of a NumPy program
by_example  calls under vmap that decide by values: one for each example
written_arguments  what such calls write into arrays that they are given
repeated_stores  what functions store that a rule calls more often than SciPy
draws       generators of random numbers, which start alike for each example
tables      tables of pandas that functions may store into
iterators   where iterators stand that functions take items from
storable_objects  what functions lead to that they may store into
own_containers  stores into what a function has made itself, which nobody else sees
storing     whether a user's function stores, so that it can't be called for each example
following   functions of arrays that a NumPy program describes; indices that are locally constant
serving     register rules for SciPy's functions, and replacements for SciPy's modules
leaves      register rules for compiled code inside SciPy
namespace   SciPy's wrapping of NumPy for several array libraries
"""
