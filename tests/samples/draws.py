# fmt: off
"""Random numbers with parameters that carry a derivative; each example of a batch is drawn by itself."""

import numpy as np

from pullback.testing import Sample
from tests.samples import traced

BY_EXAMPLE = [
    Sample(traced(np.random.default_rng, lambda rng, mean, scale: rng(0).normal(mean, scale, 3)), (np.float64(0.3), np.float64(1.2)), name="normal"),
    Sample(traced(np.random.RandomState, lambda rng, mean, root: rng(0).multivariate_normal(mean, root @ root.T, 2)), (np.array([0.3, 1.0]), np.array([[2.0, 0.3], [0.3, 1.0]])), name="multivariate_normal"),
]
