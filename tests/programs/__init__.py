"""Ordinary NumPy programs. None of these files knows of pullback."""
