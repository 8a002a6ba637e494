"""Random NumPy programs as text. They know nothing of pullback, and a seed makes the same again.

A program grows statement by statement: a template is filled with names and constants that fit, run
with plain NumPy, and kept if it neither warns nor leaves a moderate range.
"""

from __future__ import annotations

import math
import random
import re
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = ["Program", "leaves", "make", "shrink"]

# A hole is a letter for a variable (see VARIABLES) or the name of a method of Holes; digits at its
# end tell holes of one kind apart. What is not an expression assigns to {out}.
TEMPLATES = {
    "elementwise": """
        np.sin({a})
        np.cos({a} * 0.7)
        np.tanh({r})
        np.exp({a} * 0.3)
        np.exp2({r} * 0.3)
        np.expm1({a} * 0.4)
        np.log({r} ** 2 + 0.6)
        np.log({z} * 0.1 + 2.5)
        np.log1p({r} ** 2)
        np.log2(np.exp({r}) + 0.2)
        np.log10(np.cosh({r}))
        np.sqrt({r} ** 2 + 0.3)
        np.sqrt({z} * 0.1 + 2.0)
        np.cbrt({r} ** 2 + 0.2)
        np.square({a})
        {a} ** 2
        {a} ** 3
        {a} ** np.int64(2)
        ({r} ** 2 + 0.3) ** -0.5
        np.abs({a})
        abs({a})
        np.fabs({r})
        np.sinh({a} * 0.3)
        np.cosh({a} * 0.3)
        np.tan({r} * 0.1)
        np.arctan({r})
        np.arcsin(np.tanh({r}) * 0.9)
        np.arccos(np.sin({r}) * 0.8)
        np.arcsinh({r})
        np.arccosh({r} ** 2 + 1.5)
        np.arctanh(np.tanh({r}) * 0.7)
        np.reciprocal({r} ** 2 + 0.8)
        1 / (1 + np.exp(-{r}))
        np.sinc({r} * 0.5)
        np.i0({r} * 0.5)
        np.deg2rad({r} * 30)
        np.degrees({r}) * 0.01
        -{a}
        +{a}
        np.positive({a})
        np.nan_to_num({a})
        np.modf({r} * 1.3 + 0.05)[0]
        np.frexp({r})[0]
        np.ldexp({r}, {n})
        {a}.copy()
        np.real_if_close({a})
    """,
    "complex": """
        np.real({a})
        {a}.imag
        {a}.real * 2 - np.imag({a})
        np.conj({a})
        {z}.conjugate() * {z}
        np.angle({z} + 12.0)
        np.abs({z} + 0.1)
        {r} + 1j * {t}
        {r} * (0.3 - 0.8j)
        np.exp(1j * {r})
        {z} / ({z} * {z}.conj() + 1)
        {z} ** 2 - 1j
    """,
    "binary": """
        {a} + {o}
        {a} - {o}
        {o} * {a}
        {a} * {o}
        {a} / ({t} ** 2 + 0.7)
        {c} - {a}
        {c} * {a}
        {a} * {c}
        {a} + {c}
        {c} + {a}
        {a} / {x}
        {c} / ({r} ** 2 + 0.9)
        {l} + {a}
        {a} * {l}
        np.add({a}, {l})
        np.subtract({l}, {a})
        np.multiply({c}, {a})
        np.divide({a}, 1.0 + np.square({t}))
        np.true_divide({c}, np.cosh({r}))
        np.power({r} ** 2 + 0.4, {t} * 0.5)
        np.float_power({r} ** 2 + 0.4, {x})
        {x} ** {r}
        ({r} ** 2 + 0.5) ** {c}
        np.logaddexp({r}, {t})
        np.logaddexp({r}, {c})
        np.logaddexp2({c}, {r})
        np.hypot({r}, {t} + 0.2)
        np.arctan2({r}, {t} ** 2 + 0.5)
        np.arctan2({t}, {r})
        np.copysign({r}, {c})
        np.add.outer({a}, {o})
        np.multiply.outer({c}, {a})
        {a} - {a}.mean()
        2 * {a} + 1
        {a} - np.float32(0.5)
        np.float64(1.25) * {a}
        np.array(0.5) + {a}
        {a} * np.int32(2)
        {a} * {mask}
        {mask} + {r}
    """,
    "choice": """
        np.maximum({r}, {t})
        np.minimum({r}, {c})
        np.fmax({r}, {t})
        np.fmin({c}, {r})
        np.maximum({r}, 0)
        np.clip({r}, -0.8, {x})
        np.clip({r}, {c}, None)
        np.clip({r}, None, {t})
        np.clip({c}, {r}, {r} + 1)
        {r}.clip(-1.0, 1.0)
        np.where({mask}, {a}, {o})
        np.where({mask}, {c}, {a})
        np.where({r} > {x}, {r}, {t})
        np.where({r} > 0.1, np.sqrt(np.abs({r}) + 0.1), {c})
        np.where({t} <= {r}, {a}, 0.0)
        np.select([{r} > 0.5, {r} < -0.5], [{r} * 2.0, {r} ** 2], {r})
        np.choose({zeroone}, [{a}, {c}])
        np.interp({r}, [-2.0, -0.3, 0.9, 2.5], [0.1, 0.7, -0.4, 0.3])
        np.interp([-0.2, 0.3], [-1.0, 0.0, 1.0], np.resize({r}, 3))
        np.heaviside({r}, 0.5) * {r}
        {r} * ({r} > 0)
        np.extract({mask}, {a})
    """,
    "rough": """
        np.floor({r} * 1.7 + 0.03) - {r}
        np.sign({r}) * {t}
        {r} % 0.83
        {r} // 0.7 + {r}
        divmod({r}, 0.77)[1]
        np.fmod({r}, 1.13)
        np.remainder({x}, {r} ** 2 + 0.3)
        np.round({r}, 1) * {r}
        np.trunc({r} * 1.9) * {r}
        np.rint({r}) + {t}
        round({r}) * {r}
    """,
    "indexing": """
        {v}[{index}]
        {v}[{index}]
        {v}[{index}]
        {v}[{fancy}]
        {v}[{fancy}]
        {a}[{mask}]
        {v}[-1]
        {a}[None]
        {a}[...]
        {a}[()]
        {v}[..., None, 0]
        {v}[::-1]
        {v}[0][..., None]
        np.take({v}, {ints}, axis={axis})
        {v}.take({ints}, axis={axis})
        np.take({v}, [0, -1, 0])
        np.take_along_axis({w}, np.argsort({w}, axis={axis}), axis={axis})
        np.compress({bools}, {v}, axis={axis})
        np.delete({v}, {ints}, axis={axis})
        np.insert({v}, {n}, {x}, axis={axis})
        np.append({a}, {c})
        np.diag({v})
        np.diagflat({v})
        np.diagonal({m}, {n})
        np.tril({m}, {n})
        np.triu({m}, -{n})
        {m}[:, 0]
        {m}[..., ::-1, :1]
        {d}[np.ix_([0, -1], [0, 0])]
        {d}[[0, -1], [-1, 0]]
        {d}[np.triu_indices(2)]
        {u}[np.argmax({u})] * {u}
        {u}[np.argsort({u})[::-1]]
        {u}[1:] - {u}[:-1]
    """,
    "reductions": """
        np.sum({a}, axis={axes}, keepdims={flag})
        {a}.sum({axes})
        {a}.sum()
        np.sum({a}, axis={axes}, where={mask})
        np.sum({a}, initial={x})
        np.mean({a}, axis={axes}, keepdims={flag})
        {a}.mean({axes})
        np.mean({a}, where={mask})
        np.prod({a}, axis={axes}, keepdims={flag})
        {a}.prod()
        np.prod({a}, where={mask}, initial={x})
        np.var({a}, axis={axes}, ddof={n}, keepdims={flag})
        {a}.var({axes})
        np.std({a}, axis={axes}, ddof={n})
        {a}.std()
        np.var({a}, where={mask})
        np.std({a}, axis={axes}, correction=1, keepdims={flag})
        np.max({r}, axis={axes}, keepdims={flag})
        np.min({r}, axis={axes})
        {r}.max({axes})
        np.max({r}, initial=-0.5, where={mask})
        np.amin({r}, axis={axes}, initial=0.3)
        np.ptp({r}, axis={axes})
        np.median({r}, axis={axes}, keepdims={flag})
        np.quantile({w}, {prob}, axis={axis})
        np.percentile({w}, [20, 70], axis={axes}, method='{method}')
        np.average({v}, axis={axis}, weights=np.arange(1.0, {length} + 1))
        np.average({a}, weights={a} ** 2 + 1)
        np.nansum({a}, axis={axes})
        np.nanmean({a}, axis={axes}, keepdims={flag})
        np.nanvar({a}, axis={axes})
        np.nanmax({r}, axis={axes})
        np.nanprod({a}, axis={axes})
        np.add.reduce({a}, axis={axes}, keepdims={flag})
        np.multiply.reduce({v}, axis={axis})
        np.maximum.reduce({r}, axis={axes})
        np.logaddexp.reduce({w}, axis={axis})
        np.subtract.reduce({v}, axis={axis})
        np.trapezoid({v}, dx=0.3, axis={axis})
        np.trapezoid({v}, np.linspace(0.0, 1.0, {length}), axis={axis})
        np.trace({m}, {n})
        np.cov({w})
        np.corrcoef({d} + np.arange(float({d}.shape[-1])) ** 2)
        np.log(np.sum(np.exp({r}), axis={axes}))
        np.linalg.norm({a})
    """,
    "cumulative": """
        np.cumsum({a}, axis={axis})
        {v}.cumsum({axis})
        np.cumsum({a})
        np.cumprod({v}, axis={axis})
        np.nancumsum({a})
        np.nancumprod({v}, axis={axis})
        np.cumulative_sum({v}, axis={axis}, include_initial={flag})
        np.cumulative_prod({v}, axis={axis}, include_initial={flag})
        np.add.accumulate({v}, axis={axis})
        np.maximum.accumulate({w}, axis={axis})
        np.multiply.accumulate({v}, axis={axis})
        np.add.reduceat({v}, [0], axis={axis})
        np.diff({v}, axis={axis})
        np.diff({v}, n=2, axis={axis}, prepend=0.0, append=1.0)
        np.ediff1d({v}, to_begin=0.5)
        np.gradient({v}, axis={axis})
        np.gradient({v}, 0.5, axis={axis}, edge_order=2)
        np.unwrap({w}, axis={axis})
    """,
    "sorting": """
        np.sort({w}, axis={axis})
        np.sort({w}, axis=None)
        np.sort({w}, axis={axis}, stable=True)[::-1]
        np.sort({z})
        np.partition({w}, 0, axis={axis})
        {w}[np.argsort({w}, axis=0)]
    """,
    "shapes": """
        np.reshape({a}, {shape})
        {a}.reshape({shape})
        np.reshape({a}, {shape}, order='F')
        {a}.reshape(-1)
        np.ravel({a})
        {a}.ravel(order='F')
        {a}.flatten()
        {a}.T
        {m}.mT
        np.transpose({a}, {perm})
        {a}.transpose({perm})
        np.swapaxes({v}, 0, {axis})
        np.moveaxis({v}, {axis}, 0)
        np.rollaxis({v}, -1)
        np.matrix_transpose({m})
        np.expand_dims({a}, 0)
        np.expand_dims({a}, (0, -1))
        np.squeeze({a})
        {a}.squeeze()
        np.atleast_1d({a})
        np.atleast_2d({a})
        np.atleast_3d({a})
        np.flip({a})
        np.flip({v}, {axis})
        np.fliplr({m})
        np.flipud({v})
        np.rot90({m}, {n})
        np.roll({a}, {n})
        np.roll({v}, -{n}, axis={axis})
        np.roll({m}, (1, {n}), axis=(0, 1))
        np.pad({a}, {n})
        np.pad({v}, (1, {n}), mode='{pad}')
        np.pad({a}, 1, constant_values={x})
        np.tile({a}, {n1})
        np.tile({a}, (2, 1))
        np.repeat({a}, 2)
        np.repeat({v}, {counts}, axis={axis})
        {v}.repeat(2, {axis})
        np.broadcast_to({a}, (2,) + {a}.shape)
        np.broadcast_arrays({a}, {o})[1]
        np.resize({a}, {n1} + 1)
        np.resize({v}, (2, 2))
        np.stack([{a}, {a1} * np.ones_like({a}), {a}], axis={n} - 1)
        np.stack(({a}, {c} * {a}), axis=-1)
        np.concatenate([{v}, {v}[:1], {v}])
        np.concatenate(({a}, {o}), axis=None)
        np.concatenate([{v}, {v} * {c}], axis={axis})
        np.hstack([{a}, {a} * 2, {a}])
        np.vstack(({a}, {c} * {a}))
        np.dstack(({a}, {a}))
        np.column_stack([{a}, {a}])
        np.block([[{a}, {a}], [{a}, {a} * {x}]])
        np.split({v}, [1], axis={axis})[{n01}]
        np.array_split({v}, 2, axis={axis})[{n01}]
        np.hsplit({v}, 1)[0]
        np.unstack({v})[-1]
        np.meshgrid({u}, [0.1, 0.2])[{n01}]
        np.lib.stride_tricks.sliding_window_view({v}, 2, axis={axis})
        np.ones_like({a}) * {a1}
        np.full_like({a}, {x}) + {a}
        np.zeros_like({a}) - {a}
    """,
    "contractions": """
        {m} @ np.swapaxes({m}, -1, -2)
        np.matmul(np.swapaxes({m}, -1, -2), {m})
        {v} @ {right}
        {right}.T @ np.moveaxis({v}, -1, 0)
        np.dot({a}, {right})
        {v}.dot({right})
        np.dot({v}, {v1})
        np.matmul({v}, {v1})
        {v} @ {v1}
        np.einsum('...ij->...ji', {m})
        np.einsum('...i,...i->...', {v}, {v})
        np.einsum('...i,...i', {v}, {o})
        np.einsum('...i->...', {v})
        np.einsum('ij,ik->jk', {d}, {d})
        np.einsum('ij,kj,kl->il', {d}, {d}, {d1})
        np.einsum('ii->i', {s})
        np.einsum('...ii->...', {s})
        np.einsum('i,j->ij', {u}, {u1})
        np.einsum(np.ravel({a}), [0], np.ravel({a}), [0], [0])
        np.tensordot({a}, {u}, axes=0)
        np.tensordot({d}, {d1}, axes=([0], [0]))
        np.tensordot({m}, {m}, axes=2)
        np.tensordot({v}, {right}, 1)
        np.outer({a}, {o})
        np.outer({c}, {a})
        np.inner({v}, {v})
        np.inner({v}, {v1})
        np.vdot({a}, {a1})
        np.vecdot({v}, {o})
        np.linalg.vecdot({v}, {v}, axis={axis})
        np.matvec({m}, {m}[..., 0, :])
        np.vecmat({m}[..., 0], {m})
        np.kron({a}, {o})
        np.kron({l}, {v})
        np.cross(np.resize({a}, 3), [0.3, -0.2, 0.9])
        np.cross(np.resize({a}, (2, 3)), np.resize({a1}, 3))
        np.convolve({u}, [0.2, 0.5, -0.3], mode='same')
        np.convolve({u}, {u1})
        np.correlate({u}, {u1}, 'full')
        np.linalg.multi_dot([{d}, {d}.T, {d}])
        np.linalg.outer({u}, {u1})
        np.linalg.matrix_power({s} * 0.5, {n})
    """,
    "linalg": """
        np.linalg.inv({spd})
        np.linalg.det({s})
        np.linalg.det({spd})
        np.linalg.slogdet({spd})[1]
        np.linalg.slogdet({spd}).logabsdet
        np.linalg.cholesky({spd})
        np.linalg.solve({spd}, {s}[..., 0, None])
        np.linalg.solve({spd}, {s1}[..., :1])
        np.linalg.solve({spd}, np.ones({s}.shape[-1]))
        np.linalg.norm({v}, axis={axis})
        np.linalg.norm({v}, 1, axis={axis}, keepdims=True)
        np.linalg.norm({v}, np.inf, axis={axis})
        np.linalg.norm({m}, 'fro', axis=(-2, -1))
        np.linalg.norm({d}, 2)
        np.linalg.norm({d}, 'nuc')
        np.linalg.vector_norm({a}, ord=3)
        np.linalg.matrix_norm({m})
        np.linalg.svdvals({m})
        np.linalg.svd({m}, compute_uv=False)
        np.linalg.eigvalsh({s} + np.conj(np.swapaxes({s}, -1, -2)))
        np.linalg.eigvalsh({spd})
        np.linalg.eigh({spread})[0]
        np.abs(np.linalg.eigh({spread}).eigenvectors)
        np.linalg.eigvals({spread}).real
        np.linalg.qr({spd})[1]
        np.linalg.qr({spread}).Q
        np.linalg.svd({spread})[1]
        np.linalg.pinv({spread})
        np.linalg.pinv({spread}[..., :1])
        np.linalg.lstsq({spread}, np.ones({s}.shape[-1]))[0]
        np.linalg.cond({spread})
        np.linalg.trace({s})
        np.linalg.diagonal({m})
        np.linalg.tensorsolve({spread}, np.ones({s}.shape[-1]))
    """,
    "fft": """
        np.fft.fft({v}, axis={axis})
        np.fft.fft({v}, n=3, axis={axis}).real
        np.fft.ifft({v}, norm='ortho').imag
        np.fft.rfft({w}, axis={axis})
        np.abs(np.fft.rfft({w}) + 0.3)
        np.fft.irfft({v}, n=4, axis={axis})
        np.fft.irfft({v} + 0j, 3)
        np.fft.fft2({m}).real
        np.fft.rfft2({m} * 1.0).imag
        np.fft.ifftn({v})
        np.fft.irfftn({v}, s=[3], axes=[-1])
        np.fft.hfft({v}, 4)
        np.fft.ihfft({w})
        np.fft.fftshift({v})
        np.fft.ifftshift({v}, axes={axis})
        np.fft.ifft(np.fft.fft({v}) * 0.5).real
    """,
    "helpers": """
        soften({a})
        soften({r}, q=0.9)
        affine({a}, {x}, b={c})
        affine(b={o}, w={x}, x={a})
        twice(np.sin, {a})
        twice(lambda t: t * 0.5 + {c}, {a})
        Layer({c}, {x})({a})
        softmax({w}, {axis})
        normalised({v})
        total([{a}, {o}, ({a1}, {c})])
        power({a}, 3)
        (lambda t, u=0.5: t * u - {o})({a})
        sum([np.sum({a}), np.sum({a1}) * 0.5])
        sum(t.sum() for t in ({a}, {o}))
        np.stack([row * k for k, row in enumerate({v})])
        np.stack([t.sum() for t in {v}])
        np.concatenate([np.ravel(t) for t in ({a}, {a1})])
        np.vectorize(lambda t: t, otypes=[float])(np.arange(3.0)) * {a}.sum()
        max({a}.shape + (1,)) * {a}
        {a} * len({v}) / {v}.size
        np.asarray([0.1, 0.2]).reshape(2, *(1,) * {a}.ndim) * {a}
        np.zeros({a}.shape) + {a}
        {a}.astype({a}.dtype) * {x}
        [{a}, {c}][0]
        {{'p': {a}, 'q': {o}}}['q'] * 0.5
        {a}.swapaxes(0, -1)
        {r}.round(1) + {r}
    """,
    "narrow": """
        {r}.astype(np.float32)
        np.astype({z}, np.complex64)
        {r} * np.ones(1, dtype=np.float32)
        {r}.astype(complex)
    """,
}

BLOCKS = {
    "blocks": """
{out} = {a}
for k in range({n1} + 1):
    {out} = np.tanh({out} * 0.7 + {x} * k)
----
{out} = {a}
for t in [0.3, {o}, {x}]:
    {out} = np.sin({out}) * 0.8 + t
----
parts = []
for row in {v}:
    parts.append(row * {x} + np.cos(row))
{out} = np.stack(parts[::-1])
----
state = {{'x': {a}, 'n': 0}}
while state['n'] < {n1}:
    state['x'] = state['x'] * {x} + np.sin(state['x'])
    state['n'] += 1
{out} = state['x']
----
left, right = np.split(np.concatenate([{v}, {v} * 0.5]), 2)
{out} = left * right - {x}
----
{out} = {a} * 1.0
{out} += {x}
{out} *= {a}
----
{out} = {a} + {o}
{out} -= {c0}
{out} /= 1.5
----
def inner(t):
    return t * {c} + {o}
{out} = inner({a}) - inner({a} * 0.5)
----
values, vectors = np.linalg.eigh({spread})
{out} = np.sum(vectors * vectors * values[..., None, :], axis=-1)
----
q, r = np.linalg.qr({spread})
{out} = q @ r - q
----
u, s, vh = np.linalg.svd({spread}, full_matrices=False)
{out} = (u * (s / (s + 1))[..., None, :]) @ vh
----
first, *rest = {v}
{out} = first - sum(rest) * {x}
----
table = {{}}
for name, t in zip('pqr', ({a}, {o}, {a1})):
    table[name] = np.sin(t) + len(table)
{out} = table['p'] * table['q'] + table['r'].sum()
----
{out} = {x}
for i in range(len({v})):
    {out} = {out} * 0.5 + {v}[i] * {v}[-i]
----
try:
    {out} = np.reshape({a}, (7, 11))
except ValueError:
    {out} = {a} * {x}
----
fraction, whole = np.modf({r} * 1.1 + 0.03)
{out} = fraction * whole + {r}
""",
    # These ask for truth values, which `vmap` refuses.
    "asking": """
if {a}.sum().real > 0:
    {out} = np.sin({a})
else:
    {out} = {a} * {x}
----
{out} = {r}
for k in range(6):
    {out} = {out} * 0.8 + np.cos({out}) * 0.3
    if np.abs({out}).sum() > 1.1:
        break
----
{out} = {w}[{w} > 0.1]
----
{out} = {r} if {r}.mean() < {x} else np.exp(-{r} ** 2)
----
{out} = np.piecewise({w}, [{w} > 0.3], [lambda t: np.sin(t), lambda t: 0.5 * t])
----
{out} = {u}[int(np.argmax({u}))] + {u}
----
{out} = max({u}) - min({u}) * {x}
----
{out} = np.stack(sorted({u}))
----
n = 0
{out} = {a}
while np.linalg.norm({out}) > 0.9 and n < 8:
    {out} = {out} * 0.7
    n += 1
""",
}

HELPERS = {
    "soften": "def soften(p, q=0.5):\n    return np.tanh(p.real * q) + p",
    "affine": "def affine(x, w, *, b=0.0):\n    return w * x + b",
    "twice": "def twice(f, x):\n    return f(f(x))",
    "Layer": """class Layer:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x):
        return np.sin(self.w * x + self.b)""",
    "softmax": """def softmax(x, axis):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)""",
    "normalised": """def normalised(x):
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 0.1)""",
    "total": """def total(tree):
    if isinstance(tree, (list, tuple)):
        return sum(total(t) for t in tree)
    return np.sum(tree)""",
    "power": "def power(x, n):\n    return x if n == 1 else x * power(x, n - 1)",
}


def listed() -> dict[str, list[str]]:
    table = {name: [t.strip() for t in text.strip().split("\n")] for name, text in TEMPLATES.items()}
    blocks = {name: [t.strip("\n") for t in text.split("----\n")] for name, text in BLOCKS.items()}
    return table | blocks


TABLE = listed()
# fmt: off
WEIGHTS = {
    "elementwise": 14, "complex": 3, "binary": 18, "choice": 8, "rough": 1, "indexing": 12,
    "reductions": 10, "cumulative": 5, "sorting": 3, "shapes": 14, "contractions": 9, "linalg": 7,
    "fft": 3, "helpers": 6, "narrow": 0.6, "blocks": 6, "asking": 1.5,
}
VARIABLES = {
    "a": lambda x: True,
    "r": lambda x: x.dtype.kind == "f",
    "z": lambda x: x.dtype.kind == "c",
    "v": lambda x: x.ndim >= 1 and x.size,
    "w": lambda x: x.ndim >= 1 and x.size and x.dtype.kind == "f",
    "m": lambda x: x.ndim >= 2 and x.size,
    "d": lambda x: x.ndim == 2 and x.size,
    "u": lambda x: x.ndim == 1 and x.size and x.dtype.kind == "f",
    "s": lambda x: x.ndim >= 2 and x.size and x.shape[-1] == x.shape[-2],
}
# fmt: on
HOLE = re.compile(r"(?<!\{)\{([a-z]+)(\d*)\}")


class Unfit(Exception):
    """No variable fits a hole."""


class Holes(dict):
    """What stands in the holes of one template; the first variable sets shapes and axes."""

    def __init__(self, maker: Maker, template: str, out: str) -> None:
        super().__init__(out=out)
        self.maker, self.random = maker, maker.random
        names = [kind + digits for kind, digits in HOLE.findall(template)]
        variables = [name for name in names if name.rstrip("0123456789") in VARIABLES]
        if not variables and {"spd", "spread"} & set(names):
            variables = ["s"]
        self.first = None
        for name in variables:
            if name not in self:
                self[name] = maker.variable(VARIABLES[name.rstrip("0123456789")])
            if self.first is None:
                self.first = maker.values[self[name]]
        for name in names:
            if name not in self:
                self[name] = str(getattr(self, name.rstrip("0123456789"))())

    def t(self) -> str:
        """A real variable or constant that broadcasts with the first."""
        return self.maker.partner(self.first, VARIABLES["r"]) or self.c()

    def o(self) -> str:
        return self.maker.partner(self.first, VARIABLES["a"]) or self.c()

    def x(self) -> str:
        return str(round(self.random.uniform(0.2, 1.5), 2))

    def n(self) -> str:
        return str(self.random.randint(0, 2))

    # The digit belongs to the name: a count of at least one, a choice of two.
    def flag(self) -> str:
        return str(self.random.random() < 0.5)

    def prob(self) -> str:
        return self.random.choice(["0.3", "[0.25, 0.8]", "0.5", "np.array([[0.1], [0.9]])"])

    def method(self) -> str:
        return self.random.choice(["linear", "lower", "midpoint", "hazen", "median_unbiased"])

    def pad(self) -> str:
        return self.random.choice(["edge", "reflect", "symmetric", "wrap", "mean", "linear_ramp"])

    def axis(self) -> str:
        ndim = self.first.ndim
        return str(self.random.randrange(-ndim, ndim))

    def axes(self) -> str:
        ndim, draw = self.first.ndim, self.random.random()
        if draw < 0.3 or not ndim:
            return "None"
        if draw < 0.7:
            return self.axis()
        axes = self.random.sample(range(ndim), self.random.randint(0, ndim))
        return str(tuple([a - ndim if self.random.random() < 0.3 else a for a in axes]))

    def at(self) -> int:
        """The length along the axis that the template names."""
        return self.first.shape[int(self["axis"]) if "axis" in self else 0]

    def length(self) -> str:
        return str(self.at())

    def ints(self) -> str:
        n = self.at()
        draw = [self.random.randrange(-n, n) for _ in range(self.random.randint(1, 4))]
        return self.random.choice([str(draw), f"np.array({draw})", str(draw[0])])

    def bools(self) -> str:
        return str([self.random.random() < 0.6 for _ in range(self.at())])

    def counts(self) -> str:
        return str([self.random.randint(0, 2) for _ in range(self.at())])

    def mask(self) -> str:
        return literal(self.maker.draws(self.first.shape) > -0.3)

    def zeroone(self) -> str:
        return literal((self.maker.draws(self.first.shape) > 0).astype(int))

    def c(self) -> str:
        """A constant that broadcasts with the first variable: a number, NumPy scalar, or array."""
        draw, number = self.random.random(), round(self.random.uniform(-1.5, 1.5), 2)
        if draw < 0.25:
            return f"({number})"
        if draw < 0.35:
            return f"({self.random.randint(1, 3)})"
        if draw < 0.45:
            return f"np.{self.random.choice(['float64', 'float32'])}({number})"
        if draw < 0.5 and self.first.dtype.kind == "c":
            return f"({number} + 0.4j)"
        array = self.maker.draws(self.partner_shape())
        if draw < 0.6:
            return literal(array.astype(np.float32))
        return literal(np.round(array, 2))

    def l(self) -> str:
        """A list that stands for an array."""
        shape = self.partner_shape()
        if not shape or 0 in shape:
            raise Unfit
        return str(np.round(self.maker.draws(shape), 2).tolist())

    def partner_shape(self) -> tuple[int, ...]:
        shape = [n if self.random.random() < 0.7 else 1 for n in self.first.shape]
        return tuple(shape[self.random.randint(0, len(shape)) if shape else 0 :])

    def right(self) -> str:
        """A matrix by which the first variable can be multiplied from the right."""
        n = self.first.shape[-1] if self.first.ndim else 2
        return literal(np.round(self.maker.draws((n, self.random.randint(1, 3))), 2))

    def spd(self) -> str:
        """A positive definite matrix, or a stack of them, made of s."""
        s, n = self.square(), self.first.shape[-1]
        return f"({s} @ np.conj(np.swapaxes({s}, -1, -2)) + {self.x()} * np.eye({n}))"

    def spread(self) -> str:
        """A Hermitian matrix whose eigenvalues are apart."""
        s, n = self.square(), self.first.shape[-1]
        whole = f"({s} + np.conj(np.swapaxes({s}, -1, -2))"
        return f"(0.3 * {whole} / (1 + np.max(np.abs({s})))) + np.diag(np.arange(1.0, {n} + 1)))"

    def square(self) -> str:
        return self["s"]

    def shape(self) -> str:
        """Another shape of the same size."""
        size, shape = self.first.size, []
        if size == 0:
            return str(self.random.choice([(0,), (0, 2), (3, 0)]))
        rest = size
        for _ in range(self.random.randint(0, 2)):
            n = self.random.choice([k for k in range(1, rest + 1) if rest % k == 0])
            shape.append(n)
            rest //= n
        shape.append(rest)
        self.random.shuffle(shape)
        if self.random.random() < 0.4:
            shape[self.random.randrange(len(shape))] = -1
        return str(tuple(shape))

    def perm(self) -> str:
        axes = list(range(self.first.ndim))
        self.random.shuffle(axes)
        return str(tuple(axes))

    def item(self, n: int) -> str:
        """A basic index along an axis of length n."""
        draw = self.random.random()
        if draw < 0.25 and n:
            return str(self.random.randrange(-n, n))
        if draw < 0.45:
            return ":"
        bounds = [str(self.random.randint(-n, n)) if self.random.random() < 0.6 else "" for _ in "ab"]
        step = self.random.choice(["", "", ":1", ":2", ":-1", ":-2", ":3"])
        return f"{bounds[0]}:{bounds[1]}{step}"

    def index(self) -> str:
        items = [self.item(n) for n in self.first.shape]
        cut = self.random.randint(0, len(items))
        draw = self.random.random()
        if draw < 0.3:
            items[cut:] = []
        elif draw < 0.6:
            end = self.random.randint(cut, len(items))
            items[cut:end] = ["..."]
        for _ in range(self.random.choice([0, 0, 1, 2])):
            items.insert(self.random.randint(0, len(items)), "None")
        return ", ".join(items) or "..."

    def fancy(self) -> str:
        """Integer arrays, masks, slices and new axes together."""
        items, length = [], self.random.randint(1, 3)
        for n in self.first.shape[: self.random.randint(1, self.first.ndim)]:
            draw = self.random.random()
            if draw < 0.55:
                ints = [self.random.randrange(-n, n) for _ in range(length)]
                items.append(
                    self.random.choice([str(ints), f"np.array({ints})", f"np.array({ints})[:, None]"])
                )
            elif draw < 0.65:
                items.append(literal(self.maker.draws((n,)) > -0.4))
            else:
                items.append(self.item(n))
        if self.random.random() < 0.25:
            items.insert(self.random.randint(0, len(items)), "None")
        if self.random.random() < 0.2:
            items.insert(self.random.randint(0, len(items)), "...")
        return ", ".join(items)
