"""scipy.fft and scipy.fftpack: one rule for each family of transforms in compiled code.

    transforms      complex and real transforms; cosine and sine transforms; public functions
    packed          scipy.fftpack: real transforms in FFTPACK's layout, derivatives, shifts

Norms, lengths, axes and workers are SciPy's own Python, which takes part as the user's code does.
"""

from importlib import import_module

FAMILIES = ("transforms", "packed")

for family in FAMILIES:
    import_module(f"{__name__}.{family}")
