"""Turn a repetition in a recorded graph into one `scan`, and prepare it for lowering.

find        stretches that repeat
loop_steps  which operands stay the same in the steps of a stretch, and which change
stack_rows  operands that differ in each step, as rows of one array
roll        a stretch as a `scan`, or the reason why it stays unrolled
accumulate  add cotangents of elements in place
hoist       do before a loop what all of its steps do alike
trim        optimise bodies, and remove results that nobody reads
"""
