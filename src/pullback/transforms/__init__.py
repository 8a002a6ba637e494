"""The transformations: each file one trace, its user functions and its errors."""
