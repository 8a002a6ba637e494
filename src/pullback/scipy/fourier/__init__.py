"""scipy.fft: one rule for each family of transforms in compiled code.

    transforms      complex and real transforms; cosine and sine transforms; public functions

Norms, lengths, axes and workers are SciPy's own Python, which takes part as the user's code does.
"""

from importlib import import_module

FAMILIES = ("transforms",)

for family in FAMILIES:
    import_module(f"{__name__}.{family}")
