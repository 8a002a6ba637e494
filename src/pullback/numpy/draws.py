"""Random numbers with derivatives with respect to the parameters of their distribution.

    rng.gamma(shape, scale)     # NumPy's numbers, with derivatives with respect to both

If a number is a function of others that don't depend on the parameters, such as `loc + scale * z`,
it has the derivative of that function. For a number found by rejection, the value of its
distribution function F(x, p) is held: x_dot = -dF/dp p_dot / (dF/dx). So the derivative of a mean
over many numbers is an unbiased estimate of the derivative of the expectation.

Enter: NumPy's function, its name and arguments. Leave: an Array.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.errors import ConversionError, MissingExtraError
from ..core.operands import as_array, leaves
from ..core.primitive import Primitive, align, one_by_one
from ..core.spec import Spec
from ..core.trace import derivatives_of
from ..core.tree import flatten, unflatten
from ..primitives.sorting import concrete
from ..transforms.call import stop_gradient
from ..transforms.examples import examples, is_inside, mapping, together
from ..transforms.of_program import pulled, pushed
from .fresh import made

Motion = Callable[..., Any]  # of the numbers, the parameters they were drawn for, and parameters


class Draw(Primitive):
    """Random numbers whose derivatives with respect to the parameters come from a program.

    `family` names the distribution; its motion(out, at, *parameters) is a program of which only
    the derivative with respect to the parameters counts.
    """

    nondiff = (0,)
    reads = "out xs"

    def value(self, numbers, *parameters, family):
        return np.array(numbers)[()]

    def spec(self, numbers, *parameters, family):
        return Spec(numbers.shape, numbers.dtype)

    def jvp(self, out, xs, x_dots, *, family):
        motion = lambda *moving: self.motion(family, out, xs[1:], moving)
        return pushed(motion, xs[1:], x_dots[1:])

    def vjp(self, out_bar, residual, wanted):
        out, (_, *at), family = residual.out, residual.xs, residual.static["family"]
        motion = lambda *moving: self.motion(family, out, at, moving)
        return [None, *pulled(motion, at, wanted[1:], out_bar)]

    def batch(self, xs, mapped, size, *, family):
        if family.partition(" ")[0] in OF_VECTORS:
            return one_by_one(self, xs, mapped, size, {"family": family})
        numbers, *parameters = xs
        numbers = numbers if mapped[0] else np.broadcast_to(numbers, (size, *numbers.shape))
        return self(*align([numbers, *parameters], [True, *mapped[1:]]), family=family)

    def motion(self, family: str, out: Any, at: Any, moving: Any) -> Any:
        moved = FAMILIES[family][1](out, at, *moving)
        return np.broadcast_to(moved, out.shape)


draw_p = Draw("random numbers")

# Distributions by NumPy's name: their parameters with defaults, and how a number moves with them.
FAMILIES: dict[str, tuple[dict[str, Any], Motion]] = {}
NEEDED = object()  # no default
OF_VECTORS = {"dirichlet", "multivariate_normal"}


def family(name: str, **parameters: Any) -> Callable[[Motion], Motion]:
    def enter(motion: Motion) -> Motion:
        FAMILIES[name] = parameters, motion
        return motion

    return enter


def moving(draw: Callable[[str], Any], name: str, args: Any, kwargs: Any) -> Any:
    """Random numbers of a distribution whose parameters are Arrays."""
    parts = leaves((args, list(kwargs.values())))
    if name not in FAMILIES:
        x = next((x for x in parts if derivatives_of(x)), None)
        if x is None:
            return made(numbers_of(draw, name, args, kwargs))
        raise ConversionError(
            f"`numpy.random` was asked for numbers of `{name}` with a parameter"
            f" {x.within.spec(x)} of `{x.within.name}`; they are integers or picked from a list,"
            " and have no derivative with respect to it.\n"
            "  Pass `x.numpy()`, or differentiate their probability instead."
        )
    parameters, chosen = FAMILIES[name][0], name
    if name == "multivariate_normal" and isinstance(draw(name).__self__, np.random.Generator):
        chosen = f"{name} by {kwargs.get('method', 'svd')}"
    given = dict(zip(parameters, args, strict=False)) | {
        key: x for key, x in kwargs.items() if key in parameters
    }
    numbers = as_array(numbers_of(draw, name, args, kwargs))
    if not any(map(derivatives_of, parts)) and type(numbers) is Array:
        return numbers
    values = [as_array(given.get(key, default)) for key, default in parameters.items()]
    return draw_p(numbers, *values, family=chosen)


def numbers_of(draw: Callable[[str], Any], name: str, args: Any, kwargs: Any) -> Any:
    """NumPy's numbers; under `vmap`, for each example those that a call for it alone would draw.

    So each example starts where the generator stands, and all have to leave it at one place.
    """
    operands, structure = flatten([list(args), kwargs])
    trace = max(filter(None, map(mapping, operands)), key=lambda trace: trace.birth, default=None)
    if trace is None or not trace.state:
        plain = [concrete(x, f"numpy.random.{name}") if type(x) is Array else x for x in operands]
        args, kwargs = unflatten(structure, plain)
        return draw(name)(*args, **kwargs)
    apart = [type(x) is Array and is_inside(x, trace) for x in operands]
    operands = [
        examples(x, trace=trace) if own else x for x, own in zip(operands, apart, strict=True)
    ]
    source: Any = draw(name).__self__
    outs, ends = [], []
    start = state_of(source)
    for i in range(trace.state):
        set_state(source, start)
        at = [x[i] if own else x for x, own in zip(operands, apart, strict=True)]
        outs.append(numbers_of(draw, name, *unflatten(structure, at)))
        ends.append(pickle.dumps(state_of(source)))
    if any(end != ends[0] for end in ends):
        set_state(source, start)
        raise ConversionError(
            f"`numpy.random` was asked for numbers of `{name}` with parameters that are mapped by"
            f" `{trace.name}`. They are found by rejection, which takes more random bits for some"
            " examples than for others, so that numbers drawn next would not be those of a loop.\n"
            "  Map by a loop instead: `np.stack([f(x) for x in xs])`."
        )
    return together(np.stack(outs), trace=trace)


def state_of(source: Any) -> Any:
    legacy = isinstance(source, np.random.RandomState)
    return source.get_state(legacy=False) if legacy else source.bit_generator.state


def set_state(source: Any, state: Any) -> None:
    if isinstance(source, np.random.RandomState):
        source.set_state(state)
    else:
        source.bit_generator.state = state


# Functions of numbers without parameters.


@family("normal", loc=0.0, scale=1.0)
@family("laplace", loc=0.0, scale=1.0)
@family("logistic", loc=0.0, scale=1.0)
@family("gumbel", loc=0.0, scale=1.0)
def by_scale(out: Any, at: Any, loc: Any, scale: Any) -> Any:
    return loc + scale * ((out - at[0]) / at[1])


@family("exponential", scale=1.0)
@family("rayleigh", scale=1.0)
def by_size(out: Any, at: Any, scale: Any) -> Any:
    return scale * (out / at[0])


@family("uniform", low=0.0, high=1.0)
def uniform(out: Any, at: Any, low: Any, high: Any) -> Any:
    return low + (high - low) * ((out - at[0]) / (at[1] - at[0]))


@family("lognormal", mean=0.0, sigma=1.0)
def lognormal(out: Any, at: Any, mean: Any, sigma: Any) -> Any:
    return np.exp(mean + sigma * ((np.log(out) - at[0]) / at[1]))


@family("weibull", a=NEEDED)
@family("power", a=NEEDED)
def by_power(out: Any, at: Any, a: Any) -> Any:
    return out ** (at[0] / a)


@family("pareto", a=NEEDED)
def pareto(out: Any, at: Any, a: Any) -> Any:
    return np.expm1(np.log1p(out) * (at[0] / a))


@family("triangular", left=NEEDED, mode=NEEDED, right=NEEDED)
def triangular(out: Any, at: Any, left: Any, mode: Any, right: Any) -> Any:
    """The square root of the probability on its side of the mode stays."""
    low, middle, high = at
    below = out <= middle
    side = np.where(below, middle - low, high - middle)
    part = np.where(below, out - low, high - out) / np.sqrt(side * (high - low))
    size = part * np.sqrt(np.where(below, mode - left, right - mode) * (right - left))
    return np.where(below, left + size, right - size)


@family("multivariate_normal", mean=NEEDED, cov=NEEDED)
def of_vectors(out: Any, at: Any, mean: Any, cov: Any) -> Any:
    """mean + v sqrt(s) z, where s**2 and v are eigenvalues and vectors of cov^T cov.

    v^T cov_dot v = moved says how eigenvalues move, and that vectors turn by k_ij / (s_j - s_i);
    the part of cov_dot that isn't symmetric turns them, too. Among equal ones, where v is any
    basis, the symmetric root moves. If all are equal, the root and its inverse are series, whose
    derivatives don't need those of eigenvectors.
    """
    n = at[1].shape[0]
    size = stop_gradient(np.trace(at[1]) / n)
    away, moved = [(x.T @ x) / size**2 - np.eye(n) for x in (at[1], cov)]
    isotropic = np.max(np.abs(away)) <= 1e-9
    _, s, vh = np.linalg.svd(np.where(isotropic, np.diag(np.arange(1.0, n + 1)), at[1]))
    v, root, column = np.swapaxes(vh, -1, -2), np.sqrt(s), s[:, None]
    k = vh @ cov @ v
    k = (k * column + np.swapaxes(k, -1, -2) * s) / (s + column)
    gap = s - column
    near = np.abs(gap) <= 1e-9 * np.max(s)
    turned = np.where(near, 1 / (root + root[:, None]), root / np.where(near, 1, gap))
    z = ((out - at[0]) @ v) / root
    by_series = (out - at[0]) @ (series(ROOT, moved) @ series(INVERSE_ROOT, away)).T
    return mean + np.where(isotropic, by_series, z @ (v @ (k * turned)).T)


@family("multivariate_normal by svd", mean=NEEDED, cov=NEEDED)
def by_columns(out: Any, at: Any, mean: Any, cov: Any) -> Any:
    """Generators scale the columns of u, in cov = u s v^T, which are v of the transpose."""
    return of_vectors(out, (at[0], at[1].T), mean, cov.T)


@family("multivariate_normal by eigh", mean=NEEDED, cov=NEEDED)
def by_eigenvectors(out: Any, at: Any, mean: Any, cov: Any) -> Any:
    """Those of the lower triangle."""
    return of_vectors(out, (at[0], mirrored(at[1])), mean, mirrored(cov))


def mirrored(x: Any) -> Any:
    return np.tril(x) + np.tril(x, -1).T


# Fourth roots of 1 + e, by powers of e: exact to the fourth derivative.
ROOT = 1, 1 / 4, -3 / 32, 7 / 128, -77 / 2048
INVERSE_ROOT = 1, -1 / 4, 5 / 32, -15 / 128, 195 / 2048


def series(coefficients: Any, e: Any) -> Any:
    one = np.eye(e.shape[0])
    *lower, last = coefficients
    out = last * one
    for c in reversed(lower):
        out = c * one + e @ out
    return out


@family("multivariate_normal by cholesky", mean=NEEDED, cov=NEEDED)
def by_triangle(out: Any, at: Any, mean: Any, cov: Any) -> Any:
    z = np.linalg.solve(np.linalg.cholesky(at[1]), (out - at[0])[..., None])
    return mean + (np.linalg.cholesky(cov) @ z)[..., 0]


# Numbers that were found by rejection.


def special() -> Any:
    try:
        import scipy.special

        import pullback.scipy.special  # noqa: F401  # enters the rules
    except ImportError:
        raise MissingExtraError(
            "The derivatives of numbers that NumPy draws by rejection come from SciPy.\n"
            "  Install it with `pip install 'pullback[scipy]'`."
        ) from None
    return scipy.special


def keeping(below: Any, above: Any, density: Any) -> Any:
    """How x moves if its probability stays; the smaller of the two sides has more digits."""
    return np.where(below < above, -below, above) / density


@family("standard_gamma", shape=NEEDED)
def standard_gamma(out: Any, at: Any, shape: Any) -> Any:
    sp, a = special(), at[0]
    density = np.exp(sp.xlogy(a - 1, out) - out - sp.gammaln(a))
    return keeping(sp.gammainc(shape, out), sp.gammaincc(shape, out), density)


@family("gamma", shape=NEEDED, scale=1.0)
def gamma(out: Any, at: Any, shape: Any, scale: Any) -> Any:
    x = out / at[1]
    return scale * x + at[1] * standard_gamma(x, at, shape)


@family("chisquare", df=NEEDED)
def chisquare(out: Any, at: Any, df: Any) -> Any:
    return 2 * standard_gamma(out / 2, (at[0] / 2,), df / 2)


@family("beta", a=NEEDED, b=NEEDED)
def beta(out: Any, at: Any, a: Any, b: Any) -> Any:
    sp = special()
    size = sp.xlogy(at[0] - 1, out) + sp.xlog1py(at[1] - 1, -out)
    density = np.exp(size - sp.betaln(*at))
    return keeping(sp.betainc(a, b, out), sp.betainc(b, a, 1 - out), density)


@family("f", dfnum=NEEDED, dfden=NEEDED)
def f(out: Any, at: Any, dfnum: Any, dfden: Any) -> Any:
    """dfnum x / (dfnum x + dfden) has a beta distribution."""
    part = lambda n, d: n * out / (n * out + d)
    share, (n, d) = part(*at), at
    turned = beta(share, (n / 2, d / 2), dfnum / 2, dfden / 2) - part(dfnum, dfden)
    return turned * (n * out + d) ** 2 / (n * d)


@family("standard_t", df=NEEDED)
def standard_t(out: Any, at: Any, df: Any) -> Any:
    sp, n = special(), at[0]
    size = -(n + 1) / 2 * np.log1p(out**2 / n) - np.log(n) / 2 - sp.betaln(n / 2, 0.5)
    return keeping(sp.stdtr(df, out), sp.stdtr(df, -out), np.exp(size))


@family("wald", mean=NEEDED, scale=NEEDED)
def wald(out: Any, at: Any, mean: Any, scale: Any) -> Any:
    sp, (m, size) = special(), at
    root = np.sqrt(scale / out)
    ahead, back = root * (out / mean - 1), root * (out / mean + 1)
    mirrored = np.exp(2 * scale / mean + sp.log_ndtr(-back))
    density = np.sqrt(size / (2 * np.pi * out**3)) * np.exp(
        -size * (out - m) ** 2 / (2 * m**2 * out)
    )
    return keeping(sp.ndtr(ahead) + mirrored, sp.ndtr(-ahead) - mirrored, density)


@family("dirichlet", alpha=NEEDED)
def dirichlet(out: Any, at: Any, alpha: Any) -> Any:
    """One after another: of what the others before leave, a share has a beta distribution."""
    (start,) = at
    left, moved = out[..., 0] * 0 + 1, []
    remains = left
    for i in range(out.shape[-1] - 1):
        share = out[..., i] / remains
        rest, rest_at = np.sum(alpha[i + 1 :]), np.sum(start[i + 1 :])
        step = lambda a, b, share=share, i=i, at=(start[i], rest_at): beta(share, at, a, b)
        turned = share + step(alpha[i], rest) - step(start[i], rest_at)
        moved.append(left * turned)
        left, remains = left * (1 - turned), remains - out[..., i]
    return np.stack([*moved, left], axis=-1)


@family("noncentral_chisquare", df=NEEDED, nonc=NEEDED)
def noncentral_chisquare(out: Any, at: Any, df: Any, nonc: Any) -> Any:
    sp, (n, size) = special(), at
    half, root = n / 2 - 1, np.sqrt(size * out)
    log = -((np.sqrt(out) - np.sqrt(size)) ** 2) / 2 + half / 2 * np.log(out / size)
    below = sp.chndtr(out, df, nonc)
    return keeping(below, 1 - below, 0.5 * np.exp(log) * sp.ive(half, root))


@family("noncentral_f", dfnum=NEEDED, dfden=NEEDED, nonc=NEEDED)
def noncentral_f(out: Any, at: Any, dfnum: Any, dfden: Any, nonc: Any) -> Any:
    sp = special()
    below = sp.ncfdtr(dfnum, dfden, nonc, out)
    return keeping(below, 1 - below, sp._ufuncs._ncf_pdf(out, *at))


@family("vonmises", mu=NEEDED, kappa=NEEDED)
def vonmises(out: Any, at: Any, mu: Any, kappa: Any) -> Any:
    """The probability between the middle and a number stays; an angle turns with mu."""
    sp, (middle, size) = special(), at
    x = np.remainder(out - middle + np.pi, 2 * np.pi) - np.pi
    nodes, weights = np.polynomial.legendre.leggauss(48)
    heights = np.cos(np.expand_dims(x, -1) * ((nodes + 1) / 2)) - 1
    mass = np.sum(weights / 2 * np.exp(np.expand_dims(kappa, -1) * heights), axis=-1)
    density = np.exp(size * (np.cos(x) - 1)) / sp.i0e(size)
    return mu - x * mass / sp.i0e(kappa) / density
