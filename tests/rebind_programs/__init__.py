"""Ordinary modules for `tests/test_rebind.py`; they know nothing of pullback."""
