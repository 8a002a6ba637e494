"""Loops as one operation: scan, fori_loop, while_loop and their derivatives."""
