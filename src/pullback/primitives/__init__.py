"""The operations: one file per family, named as NumPy names it."""
