"""Kernels of scikit-learn, filters and warps of scikit-image: written before the first gradient."""

import numpy as np

from .cases import case

ROWS, COLUMNS = np.mgrid[0:16, 0:16]
PICTURE = 0.5 + 0.3 * np.sin(0.7 * COLUMNS + 0.1 * ROWS) * np.cos(0.5 * ROWS) + 0.01 * COLUMNS
OTHER = 0.5 + 0.3 * np.sin(0.7 * COLUMNS + 0.2) * np.cos(0.5 * ROWS)
POINTS = np.array([[0.1, 0.4], [0.9, -0.3], [0.5, 1.2], [-0.7, 0.6]])
MORE = np.array([[0.2, 0.1], [-0.4, 0.8], [1.1, 0.5]])
MIXED = np.cos(np.arange(256.0)).reshape(16, 16)


# fmt: off
def kernel_case(make):
    """Two cases of a kernel: by the points, and by its parameters in the logarithm."""
    name = make.__name__

    def by_points(x):
        return np.sum(np.cos(make()(x, MORE)))

    def by_theta(theta):
        k = make()
        return np.sum(np.sin(k.clone_with_theta(k.theta + theta)(POINTS)))

    by_points.__name__, by_theta.__name__ = f"{name}_points", f"{name}_theta"
    case("sklearn", POINTS)(by_points)
    case("sklearn", 0.1)(by_theta)


@kernel_case
def rbf_kernel():
    from sklearn.gaussian_process.kernels import RBF
    return RBF(0.7)


@kernel_case
def matern_kernel_3():
    from sklearn.gaussian_process.kernels import Matern
    return Matern(0.7, nu=1.5)


@kernel_case
def matern_kernel_5():
    from sklearn.gaussian_process.kernels import Matern
    return Matern(0.7, nu=2.5)


@kernel_case
def matern_kernel_general():
    from sklearn.gaussian_process.kernels import Matern
    return Matern(0.7, nu=0.9)


@kernel_case
def rational_quadratic():
    from sklearn.gaussian_process.kernels import RationalQuadratic
    return RationalQuadratic(0.8, 1.3)


@kernel_case
def periodic_kernel():
    from sklearn.gaussian_process.kernels import ExpSineSquared
    return ExpSineSquared(0.8, 1.3)


@kernel_case
def linear_kernel():
    from sklearn.gaussian_process.kernels import DotProduct
    return DotProduct(0.6)


@kernel_case
def sum_of_kernels():
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    return ConstantKernel(1.3) * RBF([0.5, 0.9]) + WhiteKernel(0.2)


@kernel_case
def power_of_a_kernel():
    from sklearn.gaussian_process.kernels import RBF, Exponentiation
    return Exponentiation(RBF(0.9), 2)


@case("sklearn", POINTS)
def pairwise_rbf(x):
    from sklearn.metrics.pairwise import rbf_kernel
    return np.sum(rbf_kernel(x, MORE, gamma=0.7))


@case("sklearn", POINTS)
def pairwise_polynomial(x):
    from sklearn.metrics.pairwise import polynomial_kernel
    return np.sum(polynomial_kernel(x, MORE, degree=3, coef0=0.4))


@case("sklearn", POINTS)
def pairwise_cosine(x):
    from sklearn.metrics.pairwise import cosine_similarity
    return np.sum(cosine_similarity(x, MORE))


@case("sklearn", POINTS)
def pairwise_euclidean(x):
    from sklearn.metrics.pairwise import euclidean_distances
    return np.sum(euclidean_distances(x, MORE))


@case("sklearn", POINTS)
def pairwise_sigmoid(x):
    from sklearn.metrics.pairwise import sigmoid_kernel
    return np.sum(sigmoid_kernel(x, MORE))


@case("skimage", PICTURE)
def gaussian_filter(x):
    from skimage.filters import gaussian
    return np.sum(gaussian(x, sigma=1.3) * MIXED)


@case("skimage", PICTURE)
def sobel_filter(x):
    from skimage.filters import sobel
    return np.sum(sobel(x) * MIXED)


@case("skimage", PICTURE)
def prewitt_rows(x):
    from skimage.filters import prewitt_h
    return np.sum(prewitt_h(x) ** 2)


@case("skimage", PICTURE)
def scharr_filter(x):
    from skimage.filters import scharr
    return np.sum(scharr(x) * MIXED)


@case("skimage", PICTURE)
def laplace_filter(x):
    from skimage.filters import laplace
    return np.sum(laplace(x) ** 2)


@case("skimage", PICTURE)
def difference_of_gaussians(x):
    from skimage.filters import difference_of_gaussians
    return np.sum(difference_of_gaussians(x, 1.0, 2.0) ** 2)


@case("skimage", PICTURE)
def unsharp(x):
    from skimage.filters import unsharp_mask
    return np.sum(unsharp_mask(x, radius=1.5, amount=0.7) * MIXED)


@case("skimage", PICTURE)
def gabor_filter(x):
    from skimage.filters import gabor
    return np.sum(gabor(x, frequency=0.3)[0] ** 2)


@case("skimage", PICTURE)
def butterworth_filter(x):
    from skimage.filters import butterworth
    return np.sum(butterworth(x, 0.2, high_pass=False) ** 2)


@case("skimage", PICTURE)
def median_filter(x):
    from skimage.filters import median
    return np.sum(median(x) * MIXED)


@case("skimage", PICTURE)
def sato_filter(x):
    from skimage.filters import sato
    return np.sum(sato(x, sigmas=[1.5], black_ridges=False) * MIXED)


@case("skimage", PICTURE)
def frangi_filter(x):
    from skimage.filters import frangi
    return np.sum(frangi(x, sigmas=[1.5], black_ridges=False, beta=0.5, gamma=0.1) * MIXED)


@case("skimage", PICTURE)
def corner_response(x):
    from skimage.feature import corner_harris
    return np.sum(corner_harris(x) * MIXED)


@case("skimage", PICTURE)
def structure(x):
    from skimage.feature import structure_tensor
    return np.sum(structure_tensor(x, sigma=1.1)[1] ** 2)


@case("skimage", PICTURE)
def hessian_matrix(x):
    from skimage.feature import hessian_matrix
    return np.sum(hessian_matrix(x, sigma=1.2, use_gaussian_derivatives=False)[1] ** 2)


@case("skimage", PICTURE)
def similarity(x):
    from skimage.metrics import structural_similarity
    return structural_similarity(x, OTHER, data_range=1.0)


@case("skimage", PICTURE)
def signal_to_noise(x):
    from skimage.metrics import peak_signal_noise_ratio
    return peak_signal_noise_ratio(OTHER, x, data_range=1.0)


@case("skimage", PICTURE)
def denoised(x):
    from skimage.restoration import denoise_tv_chambolle
    return np.sum(denoise_tv_chambolle(x, weight=0.05, max_num_iter=8, eps=0.0) * MIXED)


@case("skimage", PICTURE)
def richardson_lucy(x):
    from skimage.restoration import richardson_lucy
    return np.sum(richardson_lucy(x, np.ones((3, 3)) / 9, num_iter=4, clip=False) * MIXED)


@case("skimage", PICTURE)
def unsupervised_wiener(x):
    from skimage.restoration import wiener
    return np.sum(wiener(x, np.ones((3, 3)) / 9, 0.1, clip=False) * MIXED)


@case("skimage", PICTURE)
def resized(x):
    from skimage.transform import resize
    return np.sum(resize(x, (11, 9), anti_aliasing=True) ** 2)


@case("skimage", PICTURE)
def rescaled_exposure(x):
    from skimage.exposure import adjust_gamma
    return np.sum(adjust_gamma(x, 1.7) * MIXED)


@case("skimage", PICTURE)
def to_lab(x):
    from skimage.color import rgb2lab
    return np.sum(rgb2lab(np.stack([x, OTHER, 1.0 - x], axis=-1)) ** 2) / 1e4


@case("skimage", PICTURE)
def to_grey(x):
    from skimage.color import rgb2gray
    return np.sum(rgb2gray(np.stack([x, OTHER, 1.0 - x], axis=-1)) ** 2)


@case("skimage", 0.2)
def turned_matrix(angle):
    from skimage.transform import SimilarityTransform
    points = SimilarityTransform(scale=1.2, rotation=angle, translation=(1.0, 2.0))(POINTS)
    return np.sum(points**2)
