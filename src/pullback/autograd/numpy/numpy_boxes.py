"""The type of an array in flight, under autograd's name."""

from ...core.array import Array

__all__ = ["ArrayBox"]

ArrayBox = Array
