"""Ordinary modules for `tests/core/reach/test_rebinding.py`; they know nothing of pullback."""
