"""Loops as one operation: scan, fori_loop, while_loop and their derivatives.

scan               scan and fori_loop
while_loop         while_loop
loop_function      one step: how its function is called, and what it may return
body               bodies recorded, and run many times
sameness           whether two recordings of a body are the same program
memory             what a function remembers from call to call
tables             tables indexed with the counter, as rows
scan_primitive     Scan
scan_derivatives   the loops that its derivatives and batches are
while_primitive    While, and its backward loop
second_way_back    the way back through that, by the symmetry of second derivatives
kink_questions     whether a second derivative is taken at a kink of some step
element_residuals  single elements kept for the backward loop in place of arrays
checkpoints        some of the carries, and the way back through all steps
"""
