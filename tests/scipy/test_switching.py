"""Derivatives of solutions whose right-hand sides jump at places that move."""

import math

import numpy as np
import pytest
from scipy import integrate

import pullback as pb
from pullback.scipy.integration import switching
from tests import budgets

from .switching_programs import JUMPS, KINKS, SHAPES, SMOOTH

# Richardson's differences of solutions with `DOP853` and tolerances of 1e-11.
# fmt: off
DERIVATIVES = {
    "pulse ends": [0.3011942],
    "pulse of a height": [-0.6023884, 0.6988058],
    "heaviside": [-0.4065697],
    "square wave": [1.043951],
    "stairs": [-5.71905],
    "searchsorted": [3.963576, -0.8828859],
    "doses in arrays": [1.33447, 0.7467483],
    "tfinal inside": [-0.04553593],
    "class": [0.6016621, 0.1239612],
    "relay": [-1.115832],
    "two levels": [-1.009526, 0.4130611],
    "argmax": [2.128601],
    "clip and jump": [-0.8],
    "piecewise": [-0.3542913],
    "copysign": [-0.6657422],
    "t_eval": [1.119925],
    "event beyond": [0.6842013],
    "no args, times list": [-1.704136],
    "pulse ends, if": [0.3011942],
    "pulse between": [0.2592165, 0.4786178, -0.2714575],
    "sign of time": [0.4654574],
    "sawtooth": [-0.219548],
    "int of time": [5.150696],
    "doses in a loop": [0.3535667, 3.715396],
    "args": [0.4517913, 0.1658589],
    "friction, not stopping": [1.158745],
    "gap": [15.27032, 5.279351],
    "mixed time and state": [0.1736111],
    "round": [1.80941],
    "select": [3.954095],
    "math.floor": [-5.71905],
    "two species": [-1.452861, 1.605038],
    "dense": [0.85],
    "backwards": [-2.225541],
    "RK23": [1.34064],
    "DOP853": [1.34064],
    "Radau": [1.34064],
    "BDF": [1.34064],
    "LSODA": [1.34064],
    "odeint": [0.6023884],
    "state, if": [0.75],
    "state, where": [1.499542, 0.3087291],
    "state, of y0": [0.25],
    "ode, dopri5": [0.3011942],
    "ode, vode": [0.6065307],
    "odeint, state": [0.5],
    "abs of state": [1.927596],
    "clip": [1.223919],
    "where, kink": [0.8461004],
    "triangle wave": [0.1324489],
    "ramp": [-0.6988058],
    "two that cancel": [-0.6988058],
    "minimum": [1.22681],
    "if, kink": [-2.53323],
    "relu": [0.8646647],
}
# Likewise of smooth ones in one direction: at the end, and of the sum that `odeint` is asked for.
SMOOTH_SLOPES = {
    "decay": [-0.1329638, -0.3250859],
    "logistic": [-0.2209435, -0.2133341],
    "pendulum": [-0.5283651, -0.5268959],
    "lotka": [3.804433, -0.8972827],
    "forced": [-0.3781335, -0.3130804],
    "van der pol": [-0.5477007, 1.240511],
    "pulse, smooth": [0.3074545, 0.2385194],
    "tanh switch": [-0.7732022, -0.9129936],
    "loop inside": [4.812891, 5.61582],
    "fixed jump": [-0.5688189, -0.4917948],
    "interpolated": [-0.364624, -0.5055805],
    "three": [-2.074059, -0.6458574],
}
# fmt: on
EASY = ("pulse ends", "state, where", "sawtooth", "odeint", "tfinal inside")


def asked(name, f):
    loose = name in ("RK23", "Radau", "BDF")
    how = {"rtol": 1e-6, "atol": 1e-8} if loose else {"rtol": 1e-8, "atol": 1e-10}
    return lambda p: f(p, **how)


@pytest.mark.share(12)
@pytest.mark.parametrize("name", JUMPS)
def test_jumps(name):
    f, p = JUMPS[name]
    f = asked(name, f)
    near = pytest.approx(DERIVATIVES[name], rel=1e-4 if name == "clip and jump" else 1e-5, abs=1e-6)
    assert pb.grad(f)(p) == near
    for i, way in enumerate(np.eye(len(p))):
        assert pb.jvp(f, (p,), (way,))[1] == pytest.approx(DERIVATIVES[name][i], rel=1e-4, abs=1e-6)


@pytest.mark.share(4)
@pytest.mark.parametrize("name", KINKS)
def test_kinks(name):
    """Steps end at kinks: one that is held across a kink is wrong in the fourth digit."""
    f, p = KINKS[name]
    f, near = asked(name, f), pytest.approx(DERIVATIVES[name], rel=1e-6)
    assert pb.grad(f)(p) == near
    assert [pb.jvp(f, (p,), (np.ones(1),))[1]] == near


@pytest.mark.share(12)
@pytest.mark.parametrize("name", SMOOTH)
def test_smooth(name):
    f, p = SMOOTH[name]
    f, way = asked(name, f), np.array([0.6, -0.8])
    side, how = name.rsplit(", ", 1)
    near = pytest.approx(SMOOTH_SLOPES[side][how == "odeint"], rel=1e-5)
    assert pb.grad(f)(p) @ way == near
    assert pb.jvp(f, (p,), (way,))[1] == near


@pytest.mark.share(4)
@pytest.mark.parametrize("name", EASY)
def test_second_derivatives(name):
    f, p = JUMPS[name]
    f, by = asked(name, f), 1e-3
    slopes = [(pb.grad(f)(p + by * e) - pb.grad(f)(p - by * e)) / (2 * by) for e in np.eye(len(p))]
    np.testing.assert_allclose(pb.hessian(f)(p), slopes, rtol=1e-4, atol=1e-4)


def pulse(a, **how):
    return integrate.solve_ivp(
        lambda t, y: np.where(t < a, 1.0, 0.0) - y, (0, 2), [0.0], rtol=1e-8, atol=1e-10, **how
    ).y[0, -1]


def test_higher_derivatives():
    """It is exp(a - 2) - exp(-2), as are all its derivatives but for the constant."""
    third = pb.grad(pb.grad(pb.grad(pulse)))
    assert third(0.8) == pytest.approx(np.exp(-1.2), rel=1e-6)
    ramp = lambda a: KINKS["ramp"][0](np.stack([a]), rtol=1e-8, atol=1e-10)
    assert pb.grad(pb.grad(ramp))(0.8) == pytest.approx(np.exp(-1.2), rel=1e-6)


@pytest.mark.share(6)
@pytest.mark.filterwarnings("ignore:.*falls back:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")
def test_compiled():
    """Also where the jump was beyond the range when it was recorded."""
    for name in ("pulse ends", "odeint"):
        f, p = JUMPS[name]
        fast = pb.compile(pb.grad(asked(name, f)), wait=True)
        for q in (5 * p, 4.9 * p, p, 1.1 * p):
            assert fast(q) == pytest.approx(pb.grad(asked(name, f))(q), rel=1e-7)


def test_batches():
    several = pb.vmap(pb.grad(lambda a: pulse(a, t_eval=[2.0])))(np.array([0.7, 0.8]))
    np.testing.assert_allclose(several, np.exp(np.array([-1.3, -1.2])), rtol=1e-6)


BENT = {  # with the derivative of the exact solution of y' = slope(t, y, a), y(0) = 1, at 2
    "abs": (lambda t, y, a: np.abs(t - a), lambda a: 2 * a - 2),
    "maximum": (lambda t, y, a: np.maximum(t - a, 0.0), lambda a: a - 2),
    "clip": (lambda t, y, a: np.clip(t, a, 1.5), lambda a: a),
    "where": (lambda t, y, a: np.where(t < a, t, a), lambda a: 2 - a),
    "of state": (lambda t, y, a: -np.maximum(y - a, 0.0) - 0.5, lambda a: (1 - a) / (1.5 - a)),
}


def test_batches_with_kinks():
    """Steps over a kink, held for all examples at once, gave -0.22 for -0.8."""
    given = np.array([0.6, 0.9])
    for slope, exact in budgets.asked(BENT, 3, "kinks").values():
        end = lambda a, slope=slope: integrate.solve_ivp(
            lambda t, y: np.stack([slope(t, y[0], a)]), (0, 2), [1.0]
        ).y[0, -1]
        np.testing.assert_allclose(pb.vmap(pb.grad(end))(given), exact(given), rtol=1e-6)
        total = lambda a, end=end: np.sum(pb.vmap(end)(a))
        np.testing.assert_allclose(pb.grad(total)(given), exact(given), rtol=1e-6)


@pytest.mark.share(3)
def test_what_is_refused():
    two = lambda p: integrate.solve_ivp(
        lambda t, y: 1.0 * (t < p[0]) + 2.0 * (t < p[1]) - y, (0, 2), [0.0]
    ).y[0, -1]
    with pytest.raises(pb.MissingRuleError, match="several conditions at the same time"):
        pb.grad(two)(np.array([0.8, 0.8]))
    assert pb.grad(two)(np.array([0.8, 0.9])) == pytest.approx(
        [np.exp(-1.2), 2 * np.exp(-1.1)], rel=1e-2
    )
    spaced = lambda a: integrate.solve_ivp(
        lambda t, y: 1.0 * (np.spacing(t + a) > 2e-16) - y, (0, 2), [0.0]
    ).y[0, -1]
    with pytest.raises(pb.MissingRuleError, match="how it moves is not known"):
        pb.grad(spaced)(0.3)
    holding = lambda a: integrate.solve_ivp(
        lambda t, y: -a * np.sign(y - 0.5), (0, 0.8), np.stack([1.0 + 0 * a]), max_step=0.01
    ).y[0, -1]
    with pytest.raises(pb.MissingRuleError, match="stays where its right-hand side jumps"):
        pb.grad(holding)(0.8)


CANCEL = {
    "where": lambda t, p: np.where(t < p[0], 1.0, 0.0) + np.where(t >= p[1], 1.0, 0.0),
    "if": lambda t, p: (1.0 if t < p[0] else 0.0) + (1.0 if t >= p[1] else 0.0),
    "sign": lambda t, p: np.sign(t - p[0]) - np.sign(t - p[1]),
    "elements": lambda t, p: np.sum(np.where(t < p, 1.0, 0.0) * np.array([1.0, -1.0])),
}


@pytest.mark.parametrize("name", CANCEL)
def test_jumps_that_cancel_and_move_apart_are_refused(name):
    dose = CANCEL[name]
    end = lambda p: integrate.solve_ivp(lambda t, y: dose(t, p) - y, (0, 2), [0.0]).y[0, -1]
    with pytest.raises(pb.MissingRuleError, match="several conditions at the same time"):
        pb.grad(end)(np.array([0.8, 0.8]))
    if name != "elements":
        assert pb.grad(lambda a: a + end((a, a)))(0.8) == pytest.approx(1.0, abs=1e-9)


def ramp(x, steep):
    return np.maximum(steep * x, 0) - np.maximum(steep * x - 1, 0)


@pytest.mark.share(3)
@pytest.mark.parametrize("rtol", [1e-4, 1e-7])
@pytest.mark.parametrize("steep", [8.0, 40.0, 90.0])
def test_kinks_close_together_cost_steps_there_alone(steep, rtol, monkeypatch):
    """Steps are short around two kinks that are close together, and long everywhere else."""
    counts, take = [], switching.Pieces.take

    def counted(self, start, end):
        take(self, start, end)
        counts.append(sum(len(mesh) - 1 for mesh in self.meshes))

    def end(fun, y0, times=(0, 3)):
        return integrate.solve_ivp(fun, times, [y0], rtol=rtol, atol=rtol * 1e-2).y[0, -1]

    monkeypatch.setattr(switching.Pieces, "take", counted)
    of_time = lambda k: end(lambda t, y: ramp(t - k, steep) - y, 0.5)
    backwards = lambda k: end(lambda t, y: y - ramp(-t - k, steep), 0.5, (0, -3))
    of_state = lambda k: end(lambda t, y: 1 + 0.5 * ramp(y - k, steep), 0.0)
    twice = lambda k: end(lambda t, y: 1 + 0.5 * ramp(y - k, steep) - 0.2 * ramp(t - 2, 9), 0.0)
    for k in (0.4, 1.1):
        by_time = -steep * np.exp(k - 3) * np.expm1(1 / steep)
        laws = [(of_time, by_time), (backwards, by_time), (of_state, -0.5), (twice, -0.5)]
        for f, slope in laws:
            counts.clear()
            assert pb.grad(f)(k) == pytest.approx(slope, rel=max(1e-6, 0.1 * rtol))
            assert 0 < sum(counts) <= 60


METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA", "odeint")


@pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")  # of those not seen
@pytest.mark.parametrize("method", METHODS)
def test_narrow_shapes_that_are_seen(method):
    """A shape that SciPy's steps meet counts; they may pass over narrow ones, as a value shows."""
    seen = 0
    for shape, (exact, slopes, _) in budgets.asked(SHAPES, 11, method).values():
        for w, rtol in ((0.1, 1e-3), (0.02, 1e-6), (0.005, 1e-9)):

            def end(p, shape=shape, rtol=rtol):
                side = lambda t, y: np.cos(20 * t) + t * shape((t - p[0]) / p[1]) - 0 * y
                how = {"rtol": rtol, "atol": rtol * 1e-2}
                if method == "odeint":
                    return integrate.odeint(side, [0.0], [0, 1], tfirst=True, **how)[-1, 0]
                return integrate.solve_ivp(side, (0, 1), [0.0], method=method, **how).y[0, -1]

            at = np.array([0.53, w])
            value, slope = pb.value_and_grad(end)(at)
            if abs(value - np.sin(20) / 20 - exact(*at)) < 0.1 * w:
                assert slope == pytest.approx(slopes(*at), rel=max(1e-5, rtol), abs=1e-5)
                seen += 1
    assert seen


@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_a_bad_step_tells_nothing_of_where_a_kink_is(rtol):
    """The first trial step ends where a kink seems to lie by its poor stages."""
    hat = lambda u: np.maximum(1 - np.abs(u), 0.0) ** 2
    end = lambda k: integrate.solve_ivp(
        lambda t, y: 1 + 0.5 * hat((y - k) / 0.59), (0, 1.82), [0.0], rtol=rtol, atol=rtol / 100
    ).y[0, -1]
    assert pb.grad(end)(0.867) == pytest.approx(0.0, abs=1e-3)  # it passes the whole of it


@pytest.mark.share(4)
@pytest.mark.parametrize(
    ("method", "stays"), [("RK45", "where"), ("DOP853", "if"), ("LSODA", "table"), ("odeint", "if")]
)
def test_jumps_that_stay_behind_one_that_moves(method, stays):
    """Steps that move with the piece they are in don't move what jumps by time alone."""
    level = {
        "where": lambda t: np.where(t < 0.7438, 1.0, -5.0),
        "if": lambda t: 1.0 if t < 0.7438 else -5.0,
        "table": lambda t: np.array([1.0, -5.0])[np.searchsorted([0.7438], t)],
    }[stays]

    def end(p):
        side = lambda t, y: [np.where(t > p[0], p[1] * level(t), 0.0) + 0.0 * y[0]]
        how = {"rtol": 1e-8, "atol": 1e-10}
        if method == "odeint":
            return integrate.odeint(side, [0.0], [0, 1], tfirst=True, **how)[-1, 0]
        return integrate.solve_ivp(side, (0, 1), [0.0], method=method, **how).y[0, -1]

    p, q = np.array([0.31, 1.2]), 0.7438
    tolerance = {"rel": 1e-5, "abs": 1e-5}
    exact = [-p[1], (q - p[0]) - 5 * (1 - q)]
    assert pb.grad(end)(p) == pytest.approx(exact, **tolerance)
    slopes = [pb.jvp(end, (p,), (x,))[1] for x in np.eye(2)]
    assert slopes == pytest.approx(exact, **tolerance)
    if stays == "where":
        mixed = pb.jvp(pb.grad(end), (p,), (np.array([1.0, 0.0]),))[1]
        assert mixed == pytest.approx([0.0, -1.0], **tolerance)


BEHIND = {  # what changes behind a smooth change, and the derivative of its integral by the place
    "where": (lambda u: np.where(u > 0, 1.0, 0.0), lambda u: -1.0),
    "if": (lambda u: 1.0 if u > 0 else 0.0, lambda u: -1.0),
    "kink": (lambda u: np.maximum(u, 0.0), lambda u: -u),
}


@pytest.mark.parametrize("name", BEHIND)
@pytest.mark.parametrize("smooth", ["square", "nothing"])
def test_what_changes_shortly_behind_a_smooth_change(name, smooth):
    """The first change of an interval was looked at alone: the derivative was 0, in silence."""
    shape, slope = BEHIND[name]
    before = {"square": lambda u: np.maximum(u, 0.0) ** 2, "nothing": lambda u: 0.0 * abs(u)}
    for way in (0.1, 0.03, 0.003):

        def end(p, way=way):
            side = lambda t, y: [before[smooth](t - 0.9 * p) + shape(t - p - way) + 0.0 * y[0]]
            return integrate.solve_ivp(side, (0, 3), [0.0], rtol=1e-6).y[0, -1]

        squares = -0.9 * (3 - 0.9) ** 2 if smooth == "square" else 0.0
        assert pb.grad(end)(1.0) == pytest.approx(squares + slope(2 - way), rel=1e-6)


RAMPS = {
    "clip": lambda u: np.clip(u, 0, 1),
    "minimum of maximum": lambda u: np.minimum(np.maximum(u, 0.0), 1.0),
    "minimum of clips": lambda u: np.minimum(np.clip(u + 1, 0, 1), np.clip(1 - u, 0, 1)),
    "interp": lambda u: np.interp(u, [0.0, 1.0], [0.0, 1.0]),
    "trapezoid": lambda u: np.clip(2 - np.abs(u), 0, 1),
}


@pytest.mark.parametrize("name", RAMPS)
def test_second_derivatives_of_ramps(name):
    """The surface of `out == x`, which is 0 on one side, seemed to move unlike that of a bound."""
    end = lambda k: integrate.solve_ivp(
        lambda t, y: RAMPS[name]((t - k) / 0.2) - y, (0, 2), [0.0], rtol=1e-8, atol=1e-10
    ).y[0, -1]
    slope, by = pb.grad(end), 1e-3
    near = (slope(0.77 + by) - slope(0.77 - by)) / (2 * by)
    assert pb.grad(slope)(0.77) == pytest.approx(near, rel=1e-4)


DUTY = {  # a dose of height p[0] and length p[1] at the beginning of every unit of time
    "%": lambda t, p: p[0] if t % 1 < p[1] else 0.0,
    "mod": lambda t, p: np.where(np.mod(t, 1) < p[1], p[0], 0.0),
    "fmod": lambda t, p: p[0] if math.fmod(t, 1) < p[1] else 0.0,
    "floor": lambda t, p: p[0] * (t - np.floor(t) < p[1]),
    "int": lambda t, p: p[0] if t - int(t) < p[1] else 0.0,
    "round": lambda t, p: np.where((t - 0.5) - np.round(t - 0.5) < p[1] - 0.5, p[0], 0.0),
    "reversed": lambda t, p: 0.0 if 1 - t % 1 < 1 - p[1] else p[0],
    "period": lambda t, p: p[0] if t % (p[1] / 0.23) < p[1] else 0.0,
}
WAYS = {  # p[0] from 1 to p[1], by time alone up to 1
    "if": lambda t, p: (p[0] if t < p[1] else 0.0) if t > 1 else 0.0,
    "where": lambda t, p: np.where(t < p[1], p[0], 0.0) if t > 1 else 0.0,
    "int": lambda t, p: p[0] * (t < p[1]) if int(t) == 1 else 0.0,
    "and": lambda t, p: p[0] if t > 1 and t < p[1] else 0.0,
    "both": lambda t, p: np.where(t < p[1], p[0], 0.0) if t > 1 else np.where(t < p[1] - 2, 2, 0),
}


def dosed(dose, method):
    """The end of y' = dose - y / 2, and its derivatives."""
    how = {"rtol": 1e-8, "atol": 1e-10}
    how |= {"hmax": 0.05} if method == "odeint" else {"max_step": 0.05}

    def end(p):
        side = lambda t, y: dose(t, p) - 0.5 * y
        if method == "odeint":
            return integrate.odeint(side, [0.4], [0, 2.8], tfirst=True, **how)[-1, 0]
        return integrate.solve_ivp(side, (0, 2.8), [0.4], method=method, **how).y[0, -1]

    return end


@pytest.mark.share(8)
@pytest.mark.parametrize("method", ["RK45", "LSODA", "odeint"])
@pytest.mark.parametrize("name", DUTY)
def test_doses_by_a_remainder(name, method):
    """The surface t % 1 - p itself jumps where the remainder begins again."""
    p, at = np.array([1.2, 0.23]), np.arange(3)
    held = np.exp((at + p[1] - 2.8) / 2)
    begun = np.exp((at - 2.8) / 2)
    exact = [2 * np.sum(held - begun), p[0] * np.sum(held)]
    if name == "period":
        exact[1] += p[0] * np.sum(at * (held - begun)) / 0.23
    end = dosed(DUTY[name], method)
    assert pb.grad(end)(p) == pytest.approx(exact, rel=1e-5)
    assert pb.jvp(end, (p,), (np.array([0.6, -0.8]),))[1] == pytest.approx(
        0.6 * exact[0] - 0.8 * exact[1], rel=1e-5
    )


@pytest.mark.share(8)
@pytest.mark.parametrize("method", ["RK45", "LSODA", "odeint"])
@pytest.mark.parametrize("name", WAYS)
def test_decisions_behind_a_branch_by_time(name, method):
    """What is decided only behind `if t > 1` is a decision from there on."""
    p = np.array([1.2, 1.61])
    ends = np.exp((np.array([1, p[1]]) - 2.8) / 2)
    exact = [2 * (ends[1] - ends[0]), p[0] * ends[1]]
    end = dosed(WAYS[name], method)
    assert pb.grad(end)(p) == pytest.approx(exact, rel=1e-5)
    assert pb.jvp(end, (p,), (np.array([0.6, -0.8]),))[1] == pytest.approx(
        0.6 * exact[0] - 0.8 * exact[1], rel=1e-5
    )


@pytest.mark.parametrize("name", ["sum", "product"])
def test_a_jump_that_moves_where_a_remainder_begins_again_is_refused(name):
    both = {"sum": np.add, "product": np.multiply}[name]
    end = dosed(
        lambda t, p: both(np.where(t % 1 < 0.3 * p[0], 1.0, 0.0), np.where(t < p[1], 1, 0)), "RK45"
    )
    with pytest.raises(pb.MissingRuleError, match="several conditions at the same time"):
        pb.grad(end)(np.array([1.0, 2.0]))
    if name == "sum":
        beside = pb.grad(end)(np.array([1.0, 2.01]))
        assert beside[1] == pytest.approx(np.exp((2.01 - 2.8) / 2), rel=1e-5)
