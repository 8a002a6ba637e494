"""Ordinary modules for `tests/core/test_rebind.py`; they know nothing of pullback."""
