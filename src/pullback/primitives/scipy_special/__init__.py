"""scipy.special: one file per family, one table row per ufunc.

Imported when scipy.special has been imported and one of its functions meets an Array, or with
`pullback.scipy.special`; never by `import pullback`.

    kinds           how a row enters the registry; several results; inverse functions; refusals
    slopes          derivatives with respect to parameters that have no formula
    formulas        elementary functions that the tables share
    bessel          Bessel, Kelvin, Airy and Struve functions, and their integrals
    convenience     logarithms, exponentials, logistic functions (expit), entropies, loss functions
    distributions   distribution functions and their inverses
    student         Student's t for many degrees of freedom
    elliptic        elliptic integrals and functions
    errors          the error function, the normal distribution
    gamma           gamma, beta and zeta functions, incomplete gamma functions
    incomplete_gamma  the derivative of gammainc with respect to its shape
    harmonics       Legendre functions, spherical harmonics, and the derivatives they return
    hypergeometric  hypergeometric and parabolic cylinder functions
    integrals       exponential, sine, cosine and Fresnel integrals; Spence's function
    nodes           Gaussian quadrature rules whose weight functions have parameters
    polynomials     orthogonal polynomials, `lpmv`
    sequences       Fourier coefficients of Mathieu functions, spheroidal characteristic values
    waves           Mathieu functions, spheroidal wave functions
    functions       functions that aren't ufuncs: softmax, logsumexp, comb, and those refused
    tables          functions of all orders up to one, with their slopes
    cuts            branch cuts
    edges           kinks, infinite slopes and poles of functions of real numbers
    statistics      private ufuncs on which scipy.stats is built
"""

from importlib import import_module

FAMILIES = (
    "bessel",
    "convenience",
    "distributions",
    "elliptic",
    "errors",
    "functions",
    "gamma",
    "harmonics",
    "hypergeometric",
    "integrals",
    "nodes",
    "polynomials",
    "sequences",
    "statistics",
    "tables",
    "waves",
    "cuts",  # of those before it
    "edges",  # likewise
)

for family in FAMILIES:
    import_module(f"{__name__}.{family}")
