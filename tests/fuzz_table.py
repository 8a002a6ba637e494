"""What random programs are made of: templates of expressions and of statements, by family.

A hole is a letter for a variable (see VARIABLES) or the name of a method of `fuzz_holes.Holes`;
digits at its end tell holes of one kind apart. What is not an expression assigns to {out}.
"""

__all__ = ["BLOCKS", "HELPERS", "TEMPLATES", "VARIABLES", "WEIGHTS"]

# Expressions, with a semicolon between two.
TEMPLATES = {
    "elementwise": """
        np.sin({a}); np.cos({a} * 0.7); np.tanh({r}); np.exp({a} * 0.3); np.exp2({r} * 0.3);
        np.expm1({a} * 0.4); np.log({r} ** 2 + 0.6); np.log({z} * 0.1 + 2.5); np.log1p({r} ** 2);
        np.log2(np.exp({r}) + 0.2); np.log10(np.cosh({r})); np.sqrt({r} ** 2 + 0.3);
        np.sqrt({z} * 0.1 + 2.0); np.cbrt({r} ** 2 + 0.2); np.square({a}); {a} ** 2; {a} ** 3;
        {a} ** np.int64(2); ({r} ** 2 + 0.3) ** -0.5; np.abs({a}); abs({a}); np.fabs({r});
        np.sinh({a} * 0.3); np.cosh({a} * 0.3); np.tan({r} * 0.1); np.arctan({r});
        np.arcsin(np.tanh({r}) * 0.9); np.arccos(np.sin({r}) * 0.8); np.arcsinh({r});
        np.arccosh({r} ** 2 + 1.5); np.arctanh(np.tanh({r}) * 0.7); np.reciprocal({r} ** 2 + 0.8);
        1 / (1 + np.exp(-{r})); np.sinc({r} * 0.5); np.i0({r} * 0.5); np.deg2rad({r} * 30);
        np.degrees({r}) * 0.01; -{a}; +{a}; np.positive({a}); np.nan_to_num({a});
        np.modf({r} * 1.3 + 0.0513)[0]; np.frexp({r})[0]; np.ldexp({r}, {n}); {a}.copy()
    """,
    "complex": """
        np.real({a}); {a}.imag; {a}.real * 2 - np.imag({a}); np.conj({a}); {z}.conjugate() * {z};
        np.angle({z} + 12.0); np.abs({z} + 0.1); {r} + 1j * {t}; {r} * (0.3 - 0.8j);
        np.exp(1j * {r}); {z} / ({z} * {z}.conj() + 1); {z} ** 2 - 1j; np.exp({z} * 0.3j);
        np.log({z} + 7); np.power({z} * 0.1 + 2.0, {t}); {x} ** {z}; np.arctan({z} * 0.1);
        np.arcsinh({z} * 0.1); np.tanh({z} * 0.2); np.abs({z}); np.hypot({z}.real, {z}.imag + 0.1);
        np.where({mask}, {z}, {r}); np.reciprocal({z} * 0.1 + 2); {t} / ({z} * 0.1 - 2j)
    """,
    "binary": """
        {a} + {o}; {a} - {o}; {o} * {a}; {a} * {o}; {a} / ({t} ** 2 + 0.7); {c} - {a}; {c} * {a};
        {a} * {c}; {a} + {c}; {c} + {a}; {a} / {x}; {c} / ({r} ** 2 + 0.9); {nested} + {a};
        {a} * {nested}; np.add({a}, {nested}); np.subtract({nested}, {a}); np.multiply({c}, {a});
        np.divide({a}, 1.0 + np.square({t})); np.true_divide({c}, np.cosh({r}));
        np.power({r} ** 2 + 0.4, {t} * 0.5); np.float_power({r} ** 2 + 0.4, {x}); {x} ** {r};
        ({r} ** 2 + 0.5) ** {c}; np.logaddexp({r}, {t}); np.logaddexp({r}, {c});
        np.logaddexp2({c}, {r}); np.hypot({r}, {t} + 0.2); np.arctan2({r}, {t} ** 2 + 0.5);
        np.arctan2({t} - 0.013, {r}); np.copysign({r}, {c}); np.add.outer({a}, {o});
        np.multiply.outer({c}, {a}); {a} - {a}.mean(); 2 * {a} + 1; {a} - np.float32(0.5);
        np.float64(1.25) * {a}; np.array(0.5) + {a}; {a} * np.int32(2); {a} * {mask}; {mask} + {r}
    """,
    "choice": """
        np.maximum({r}, {t}); np.minimum({r}, {c}); np.fmax({r}, {t}); np.fmin({c}, {r});
        np.maximum({r}, 0); np.clip({r}, -0.8, {x}); np.clip({r}, {c}, None);
        np.clip({r}, None, {t}); np.clip({c}, {r}, {r} + 1); {r}.clip(-1.0, 1.0);
        np.where({mask}, {a}, {o}); np.where({mask}, {c}, {a}); np.where({r} > {x}, {r}, {t});
        np.where({r} > 0.1, np.sqrt(np.abs({r}) + 0.1), {c}); np.where({t} <= {r}, {a}, 0.0);
        np.select([{r} > 0.5, {r} < -0.5], [{r} * 2.0, {r} ** 2], {r});
        np.choose({zeroone}, [{a}, {c}]);
        np.interp({r}, [-2.0, -0.3, 0.9, 2.5], [0.1, 0.7, -0.4, 0.3]);
        np.interp([-0.2, 0.3], [-1.0, 0.0, 1.0], np.resize({r}, 3));
        np.heaviside({r} + 0.0137, 0.5) * {r}; {r} * ({r} > 0); np.extract({mask}, {a})
    """,
    "rough": """
        np.floor({r} * 1.7 + 0.0313) - {r}; np.sign({r} - 0.0137) * {t}; ({r} + 0.0137) % 0.83;
        ({r} + 0.0137) // 0.7 + {r}; divmod({r} + 0.0137, 0.77)[1]; np.fmod({r} + 0.0137, 1.13);
        np.remainder({x}, {r} ** 2 + 0.3137); np.round({r} + 0.0137, 1) * {r};
        np.trunc({r} * 1.9 + 0.0137) * {r}; np.rint({r} + 0.0137) + {t};
        np.ceil({r} + 0.0137) / ({r} ** 2 + 1)
    """,
    "indexing": """
        {v}[{index}]; {v}[{index}]; {v}[{index}]; {v}[{fancy}]; {v}[{fancy}]; {a}[{mask}]; {v}[-1];
        {a}[None]; {a}[...]; {a}[()]; {v}[..., None, 0]; {v}[::-1]; {v}[0][..., None];
        np.take({v}, {ints}, axis={axis}); {v}.take({ints}, axis={axis}); np.take({v}, [0, -1, 0]);
        np.take_along_axis({w}, np.argsort({w}, axis={axis}), axis={axis});
        np.compress({bools}, {v}, axis={axis}); np.delete({v}, {ints}, axis={axis});
        np.insert({v}, {n}, {x}, axis={axis}); np.append({a}, {c}); np.diag({v}); np.diagflat({v});
        np.diagonal({m}, {n}); np.tril({m}, {n}); np.triu({m}, -{n}); {m}[:, 0];
        {m}[..., ::-1, :1]; {d}[np.ix_([0, -1], [0, 0])]; {d}[[0, -1], [-1, 0]];
        {d}[np.triu_indices(2)]; {u}[np.argmax({u})] * {u}; {u}[np.argsort({u})[::-1]];
        {u}[1:] - {u}[:-1]; np.take({v}, {ints}, axis={axis}, mode='wrap');
        np.insert({v}, [0, 1], {x}, axis={axis}); np.insert({v}, {n}, {v}[0], axis=0);
        np.delete({v}, slice(0, 2), axis={axis}); np.delete({v}, {bools}, axis={axis});
        {w}[np.argmin({w}, axis=0)]; {v}[list(range(len({v})))[::-1]]; {v}[tuple([0] * {v}.ndim)];
        np.sort({w}, axis=0)[[0, -1]]; {m}[np.arange(2), -1];
        {m}[np.array([[0], [-1]]), None, ::-1]
    """,
    "reductions": """
        np.sum({a}, axis={axes}, keepdims={flag}); {a}.sum({axes}); {a}.sum();
        np.sum({a}, axis={axes}, where={mask}); np.sum({a}, initial={x});
        np.mean({a}, axis={axes}, keepdims={flag}); {a}.mean({axes}); np.mean({a}, where={mask});
        np.prod({a}, axis={axes}, keepdims={flag}); {a}.prod();
        np.prod({a}, where={mask}, initial={x});
        np.var({a}, axis={axes}, ddof={n}, keepdims={flag}); {a}.var({axes});
        np.std({a}, axis={axes}, ddof={n}); {a}.std(); np.var({a}, where={mask});
        np.std({a}, axis={axes}, correction=1, keepdims={flag});
        np.max({r}, axis={axes}, keepdims={flag}); np.min({r}, axis={axes}); {r}.max({axes});
        np.max({r}, initial=-0.5, where={mask}); np.amin({r}, axis={axes}, initial=0.3);
        np.ptp({r}, axis={axes}); np.median({r}, axis={axes}, keepdims={flag});
        np.quantile({w}, {prob}, axis={axis});
        np.percentile({w}, [20, 70], axis={axes}, method='{method}');
        np.average({v}, axis={axis}, weights=np.arange(1.0, {length} + 1));
        np.average({a}, weights={a} ** 2 + 1); np.nansum({a}, axis={axes});
        np.nanmean({a}, axis={axes}, keepdims={flag}); np.nanvar({a}, axis={axes});
        np.nanmax({r}, axis={axes}); np.nanprod({a}, axis={axes});
        np.add.reduce({a}, axis={axes}, keepdims={flag}); np.multiply.reduce({v}, axis={axis});
        np.maximum.reduce({r}, axis={axes}); np.logaddexp.reduce({w}, axis={axis});
        np.subtract.reduce({v}, axis={axis}); np.trapezoid({v}, dx=0.3, axis={axis});
        np.trapezoid({v}, np.linspace(0.0, 1.0, {length}), axis={axis}); np.trace({m}, {n});
        np.cov({w}); np.corrcoef({d} + np.arange(float({d}.shape[-1])) ** 2);
        np.log(np.sum(np.exp({r}), axis={axes})); np.linalg.norm({a});
        np.quantile({w}, 0.4, axis={axis}, method='{method}');
        np.percentile({r}, 35, axis={axes}, keepdims={flag});
        np.quantile({w}, 1 / (1 + np.exp(-np.mean({r}))), axis={axis});
        np.quantile({u}, 0.4, weights=np.arange(1.0, {length} + 1), method='inverted_cdf');
        np.average({v}, axis={axis}, weights=np.arange(1.0, {length} + 1), returned=True)[0];
        np.cov({w}, bias=True, aweights=np.arange(1.0, {w}.shape[-1] + 1));
        np.mean({r}, dtype=np.float64); np.var({a}, mean=np.mean({a}), axis=None);
        np.argmax({w}, axis={axis}) * np.max({w}, axis={axis}); np.count_nonzero({mask}) * {a};
        np.sum({a}, axis={axes}, dtype=complex); np.logaddexp.reduce({r}, axis=None);
        np.hypot.reduce({w} + 0.1, axis={axis}); np.linalg.norm({a} + 1, axis=None);
        np.sum({a} ** 2, axis={axes}, keepdims={flag}).real ** 2 + 0.01
    """,
    "cumulative": """
        np.cumsum({a}, axis={axis}); {v}.cumsum({axis}); np.cumsum({a});
        np.cumprod({v}, axis={axis}); np.nancumsum({a}); np.nancumprod({v}, axis={axis});
        np.cumulative_sum({v}, axis={axis}, include_initial={flag});
        np.cumulative_prod({v}, axis={axis}, include_initial={flag});
        np.add.accumulate({v}, axis={axis}); np.maximum.accumulate({w}, axis={axis});
        np.multiply.accumulate({v}, axis={axis}); np.add.reduceat({v}, [0], axis={axis});
        np.diff({v}, axis={axis}); np.diff({v}, n=2, axis={axis}, prepend=0.0, append=1.0);
        np.ediff1d({v}, to_begin=0.5); np.gradient({v}, axis={axis});
        np.gradient({v}, 0.5, axis={axis}, edge_order=2); np.unwrap({w}, axis={axis});
        np.logaddexp.accumulate({w}, axis={axis}); np.minimum.accumulate({w}, axis={axis});
        np.maximum.reduceat({w}, [0], axis={axis}); np.add.reduceat({v}, [0, 1, 0], axis={axis});
        np.cumprod({v}, axis={axis}, dtype=complex); np.diff({v}, axis={axis}, prepend={v}[:1]);
        np.gradient({v}, np.arange({length}) ** 1.5, axis={axis}); np.gradient({m})[{which}]
    """,
    "sorting": """
        np.sort({w}, axis={axis}); np.sort({w}, axis=None);
        np.sort({w}, axis={axis}, stable=True)[::-1]; np.sort({z});
        np.partition({w}, 0, axis={axis}); {w}[np.argsort({w}, axis=0)]; np.sort_complex({z});
        np.partition({w}, -1, axis={axis});
        np.take_along_axis({w}, np.argpartition({w}, 0, axis={axis}), axis={axis});
        {u}[np.lexsort(({u1} * {u}, {u} * 0))]
    """,
    "shapes": """
        np.reshape({a}, {shape}); {a}.reshape({shape}); np.reshape({a}, {shape}, order='F');
        {a}.reshape(-1); np.ravel({a}); {a}.ravel(order='F'); {a}.flatten(); {a}.T; {m}.mT;
        np.transpose({a}, {perm}); {a}.transpose({perm}); np.swapaxes({v}, 0, {axis});
        np.moveaxis({v}, {axis}, 0); np.rollaxis({v}, -1); np.matrix_transpose({m});
        np.expand_dims({a}, 0); np.expand_dims({a}, (0, -1)); np.squeeze({a}); {a}.squeeze();
        np.atleast_1d({a}); np.atleast_2d({a}); np.atleast_3d({a}); np.flip({a});
        np.flip({v}, {axis}); np.fliplr({m}); np.flipud({v}); np.rot90({m}, {n});
        np.roll({a}, {n}); np.roll({v}, -{n}, axis={axis}); np.roll({m}, (1, {n}), axis=(0, 1));
        np.pad({a}, {n}); np.pad({v}, (1, {n}), mode='{pad}'); np.pad({a}, 1, constant_values={x});
        np.tile({a}, {count}); np.tile({a}, (2, 1)); np.repeat({a}, 2);
        np.repeat({v}, {counts}, axis={axis}); {v}.repeat(2, {axis});
        np.broadcast_to({a}, (2,) + {a}.shape); np.broadcast_arrays({a}, {o})[1];
        np.resize({a}, {count} + 1); np.resize({v}, (2, 2));
        np.stack([{a}, {a1} * np.ones_like({a}), {a}], axis={n} - 1);
        np.stack(({a}, {c} * {a}), axis=-1); np.concatenate([{v}, {v}[:1], {v}]);
        np.concatenate(({a}, {o}), axis=None); np.concatenate([{v}, {v} * {c}], axis={axis});
        np.hstack([{a}, {a} * 2, {a}]); np.vstack(({a}, {c} * {a})); np.dstack(({a}, {a}));
        np.column_stack([{a}, {a}]); np.block([[{a}, {a}], [{a}, {a} * {x}]]);
        np.split({v}, [1], axis={axis})[{which}]; np.array_split({v}, 2, axis={axis})[{which}];
        np.hsplit({v}, 1)[0]; np.unstack({v})[-1]; np.meshgrid({u}, [0.1, 0.2])[{which}];
        np.lib.stride_tricks.sliding_window_view({v}, 2, axis={axis}); np.ones_like({a}) * {a1};
        np.full_like({a}, {x}) + {a}; np.zeros_like({a}) - {a}; np.vsplit({m}, [1])[{which}];
        np.pad({v}, ((1, 0),) + ((0, 0),) * ({v}.ndim - 1), mode='{pad}');
        np.pad({v}, {count}, mode='maximum', stat_length=2);
        np.pad({v}, (0, {count}), mode='linear_ramp', end_values={x});
        np.roll({v}, [1, -1], axis=(0, {axis}));
        np.array_split({v}, [1, 2], axis={axis})[{which}]; np.append({v}, {v}[::-1], axis={axis});
        np.concatenate(({v}, {v}), dtype={v}.dtype); np.stack({v}, axis=-1);
        np.concatenate({m}, axis=-1)
    """,
    "contractions": """
        {m} @ np.swapaxes({m}, -1, -2); np.matmul(np.swapaxes({m}, -1, -2), {m}); {v} @ {right};
        {right}.T @ np.moveaxis({v}, -1, 0); np.dot({a}, {right}); {v}.dot({right});
        np.dot({v}, {v1}); np.matmul({v}, {v1}); {v} @ {v1}; np.einsum('...ij->...ji', {m});
        np.einsum('...i,...i->...', {v}, {v}); np.einsum('...i,...i', {v}, {o});
        np.einsum('...i->...', {v}); np.einsum('ij,ik->jk', {d}, {d});
        np.einsum('ij,kj,kl->il', {d}, {d}, {d1}); np.einsum('ii->i', {s});
        np.einsum('...ii->...', {s}); np.einsum('i,j->ij', {u}, {u1});
        np.einsum(np.ravel({a}), [0], np.ravel({a}), [0], [0]); np.tensordot({a}, {u}, axes=0);
        np.tensordot({d}, {d1}, axes=([0], [0])); np.tensordot({m}, {m}, axes=2);
        np.tensordot({v}, {right}, 1); np.outer({a}, {o}); np.outer({c}, {a}); np.inner({v}, {v});
        np.inner({v}, {v1}); np.vdot({a}, {a1}); np.vecdot({v}, {o});
        np.linalg.vecdot({v}, {v}, axis={axis}); np.matvec({m}, {m}[..., 0, :]);
        np.vecmat({m}[..., 0], {m}); np.kron({a}, {o}); np.kron({nested}, {v});
        np.cross(np.resize({a}, 3), [0.3, -0.2, 0.9]);
        np.cross(np.resize({a}, (2, 3)), np.resize({a1}, 3));
        np.convolve({u}, [0.2, 0.5, -0.3], mode='same'); np.convolve({u}, {u1});
        np.correlate({u}, {u1}, 'full'); np.linalg.multi_dot([{d}, {d}.T, {d}]);
        np.linalg.outer({u}, {u1}); np.linalg.matrix_power({s} * 0.5, {n});
        np.einsum('ij,ij', {d}, {d}); np.einsum('ij->j', {d}); np.einsum('ij,j->i', {d}, {d}[0]);
        np.einsum('i...,i...->...', {v}, {v});
        np.einsum('ij,jk,kl', {d}, {d}.T, {d}, optimize=True);
        np.einsum('iij->ij', {s}[..., None]); np.tensordot({v}, {v1}, axes=([0], [0]));
        np.vecdot({v}, {nested}); np.linalg.multi_dot([{u}, np.outer({u}, {u1}), {u1}]);
        np.linalg.cross(np.resize({a}, (2, 3)), np.resize({a1}, (2, 3)));
        np.matmul({m}, {m}.mT, axes=[(-2, -1), (-2, -1), (-1, -2)]); np.dot({c}, {a});
        np.trace(np.outer({u}, {u1}))
    """,
    "linalg": """
        np.linalg.inv({spd}); np.linalg.det({s}); np.linalg.det({spd});
        np.linalg.slogdet({spd})[1]; np.linalg.slogdet({spd}).logabsdet; np.linalg.cholesky({spd});
        np.linalg.solve({spd}, {s}[..., 0, None]); np.linalg.solve({spd}, {s1}[..., :1]);
        np.linalg.solve({spd}, np.ones({s}.shape[-1])); np.linalg.norm({v}, axis={axis});
        np.linalg.norm({v}, 1, axis={axis}, keepdims=True);
        np.linalg.norm({v}, np.inf, axis={axis}); np.linalg.norm({m}, 'fro', axis=(-2, -1));
        np.linalg.norm({generic}, 2, axis=(-2, -1));
        np.linalg.norm({generic}, 'nuc', axis=(-2, -1)); np.linalg.vector_norm({a}, ord=3);
        np.linalg.matrix_norm({m}); np.linalg.svdvals({generic});
        np.linalg.svd({generic}, compute_uv=False); np.linalg.eigvalsh({spread});
        np.linalg.eigh({spread})[0]; np.abs(np.linalg.eigh({spread}).eigenvectors);
        np.linalg.eigvals({spread}).real; np.linalg.qr({apart})[1]; np.linalg.qr({apart}).Q;
        np.linalg.svd({spread})[1]; np.linalg.pinv({spread}); np.linalg.pinv({spread}[..., :1]);
        np.linalg.lstsq({spread}, np.ones({s}.shape[-1]))[0]; np.linalg.cond({spread});
        np.linalg.trace({s}); np.linalg.diagonal({m});
        np.linalg.tensorsolve({spread}, np.ones({s}.shape[-1]));
        np.linalg.norm({m}, 1, axis=(-2, -1)); np.linalg.norm({m}, -np.inf, axis=(0, 1));
        np.linalg.norm({v}, 0.7, axis={axis}); np.linalg.norm({v} + 0.1, -1, axis={axis});
        np.linalg.vector_norm({v}, axis={axis}, keepdims={flag});
        np.linalg.matrix_norm({generic}, ord='nuc'); np.linalg.tensorinv({spread}[None], ind=2);
        np.linalg.inv({spd})[..., 0, :] @ {s}; np.linalg.eig({spread}).eigenvalues.real;
        np.linalg.matrix_power({spd}, -1); np.linalg.cholesky({spd}, upper=True);
        np.linalg.eigvalsh({spread}, UPLO='U')
    """,
    "fft": """
        np.fft.fft({v}, axis={axis}); np.fft.fft({v}, n=3, axis={axis}).real;
        np.fft.ifft({v}, norm='ortho').imag; np.fft.rfft({w}, axis={axis});
        np.abs(np.fft.rfft({w}) + 0.3); np.fft.irfft({v}, n=4, axis={axis});
        np.fft.irfft({v} + 0j, 3); np.fft.fft2({m}).real; np.fft.rfft2({m} * 1.0).imag;
        np.fft.ifftn({v}); np.fft.irfftn({v}, s=[3], axes=[-1]); np.fft.hfft({v}, 4);
        np.fft.ihfft({w}); np.fft.fftshift({v}); np.fft.ifftshift({v}, axes={axis});
        np.fft.ifft(np.fft.fft({v}) * 0.5).real
    """,
    "missing": """
        np.nansum(np.where({mask}, {r}, np.nan), axis={axes});
        np.nanmean(np.where({mask}, {r}, np.nan), axis={axes});
        np.nanvar(np.where({mask}, {r}, np.nan), axis={axes}, ddof={n});
        np.nanstd(np.where({mask}, {r}, np.nan));
        np.nanmax(np.where({mask}, {r}, np.nan), axis={axes});
        np.nanmin(np.where({mask}, {r}, np.nan), keepdims={flag});
        np.nanmedian(np.where({mask}, {r}, np.nan), axis={axes});
        np.nanquantile(np.where({mask}, {r}, np.nan), {prob});
        np.nanpercentile(np.where({mask}, {w}, np.nan), [20, 60], axis={axis});
        np.nanprod(np.where({mask}, {r}, np.nan), axis={axes});
        np.nancumsum(np.where({mask}, {r}, np.nan));
        np.nancumprod(np.where({mask}, {w}, np.nan), axis={axis});
        np.nan_to_num(np.where({mask}, {r}, np.nan), nan={x});
        np.nan_to_num(np.where({mask}, {r}, np.inf), posinf={x});
        np.fmax(np.where({mask}, {r}, np.nan), {c});
        np.where({mask}, {r} / {mask}.astype(float).clip(0.5), 0.3)
    """,
    "ranges": """
        np.linspace({r}, 1.7, 3); np.linspace({c}, {r}, 4, axis=-1, endpoint=False);
        np.linspace({x}, {a}, 2); np.logspace({r} * 0.2, 0.3, 3);
        np.geomspace({r} ** 2 + 0.3, 2.0, 3); np.bincount({bins}, weights={u}, minlength=3);
        np.histogram({bins}, bins=3, weights={u})[0];
        np.interp(np.linspace(-1.0, 1.0, 4), np.sort({u}) * 3, np.arange({length}) * {u1}[0]);
        np.interp({r}, [0.0, 0.3, 0.8], [0.2, -0.4, 0.9], left={x}, right=-0.3);
        np.interp({r}, [0.0, 0.3, 0.8], [0.2, -0.4, 0.9], period=1.3);
        np.full((2,), {x}) * {a}.sum();
        np.piecewise({x} * np.ones(3), [[True, False, True]], [0.5, 0.2]) * np.resize({a}, 3)
    """,
    "helpers": """
        soften({a}); soften({r}, q=0.9); affine({a}, {x}, b={c}); affine(b={o}, w={x}, x={a});
        twice(np.sin, {a}); twice(lambda t: t * 0.5 + {c}, {a}); Layer({c}, {x})({a});
        softmax({w}, {axis}); normalised({v}); total([{a}, {o}, ({a1}, {c})]); power({a}, 3);
        (lambda t, u=0.5: t * u - {o})({a}); sum([np.sum({a}), np.sum({a1}) * 0.5]);
        sum(t.sum() for t in ({a}, {o})); np.stack([row * k for k, row in enumerate({v})]);
        np.stack([t.sum() for t in {v}]); np.concatenate([np.ravel(t) for t in ({a}, {a1})]);
        np.vectorize(lambda t: t, otypes=[float])(np.arange(3.0)) * {a}.sum();
        max({a}.shape + (1,)) * {a}; {a} * len({v}) / {v}.size;
        np.asarray([0.1, 0.2]).reshape(2, *(1,) * {a}.ndim) * {a}; np.zeros({a}.shape) + {a};
        {a}.astype({a}.dtype) * {x}; [{a}, {c}][0]; {{'p': {a}, 'q': {o}}}['q'] * 0.5;
        {a}.swapaxes(0, -1); ({r} + 0.0137).round(1) + {r}
    """,
    "narrow": """
        {r}.astype(np.float32); {z}.astype(np.complex64); {r} * np.ones(1, dtype=np.float32);
        {r}.astype(complex)
    """,
}

# Statements, with a line of dashes between two.
BLOCKS = {
    "blocks": """
{out} = {a}
for k in range({count} + 1):
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
while state['n'] < {count}:
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
{out} -= {c}
{out} /= 1.5
----
def inner(t):
    return t * {c} + {o}
{out} = inner({a}) - inner({a} * 0.5)
----
values, vectors = np.linalg.eigh({spread})
{out} = np.sum(np.abs(vectors) ** 2 * values[..., None, :], axis=-1)
----
q, r = np.linalg.qr({apart})
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
fraction, whole = np.modf({r} * 1.1 + 0.0313)
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
{out} = np.real_if_close({a})
----
{out} = {v}[np.nonzero({v}.real > 0)]
----
{out} = np.unique({w})
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

# fmt: off
WEIGHTS = {
    "elementwise": 14, "complex": 3, "binary": 18, "choice": 8, "rough": 1, "indexing": 12,
    "reductions": 10, "cumulative": 5, "sorting": 3, "shapes": 14, "contractions": 9, "linalg": 7,
    "fft": 3, "missing": 2, "ranges": 2, "helpers": 6, "narrow": 0.6, "blocks": 6, "asking": 1.5,
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
