"""A repetition in a recorded graph becomes one `scan`, and is made ready for lowering.

find        stretches that repeat
loop_steps  which operands stay the same in the steps of a stretch, and which change
stack_rows  operands that differ in each step, as rows of one array
roll        a stretch as a `scan`, or why it stays as it is
accumulate  cotangents of elements, added in place
trim        bodies optimised, and without what nobody reads
"""
