"""SciPy under autograd's name: the same functions. Needs the extra `scipy`."""
