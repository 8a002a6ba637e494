"""Calls of the functions of the array API standard, written with the namespace as an argument."""

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float32", "float64", "complex64", "complex128")  # fmt: skip

KEYWORDS = {
    "sum": [{"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)}, {"dtype": "float64"}],
    "prod": [{"axis": 0}, {"keepdims": True}, {"dtype": "complex128"}],
    "max": [{"axis": 0}, {"axis": (0, -1), "keepdims": True}],
    "min": [{"axis": 0}, {"keepdims": True}],
    "mean": [{"axis": 0}, {"axis": (0, 1), "keepdims": True}],
    "std": [{"axis": 0, "correction": 1}, {"keepdims": True}],
    "var": [{"axis": 0, "correction": 0.5}, {"keepdims": True}],
    "all": [{"axis": 0}, {"keepdims": True}],
    "any": [{"axis": (0, 1)}, {"keepdims": True}],
    "argmax": [{"axis": 0}, {"keepdims": True}],
    "argmin": [{"axis": -1, "keepdims": True}],
    "count_nonzero": [{"axis": 0}, {"axis": -1, "keepdims": True}],
    "cumulative_sum": [{"axis": 0}, {"axis": 0, "include_initial": True}, {"dtype": "float64"}],
    "cumulative_prod": [{"axis": 0}, {"axis": -1, "include_initial": True}],
    "diff": [{"axis": 0}, {"n": 2}],
    "sort": [{"axis": 0}, {"stable": False}],
    "argsort": [{"axis": 0}, {"stable": True}],
    "flip": [{"axis": 0}, {"axis": (0, 1)}],
    "tril": [{"k": 1}],
    "triu": [{"k": -1}],
    "round": [{}],
    "zeros_like": [{"dtype": "int8"}, {"device": None}],
    "ones_like": [{"dtype": "float32"}],
    "empty_like": [],
    "clip": [{"min": 0}, {"max": 1}, {"min": 0, "max": 2}],
    "unique_all": [{}],
    "unstack": [{"axis": 1}],
    "asarray": [{"copy": True}, {"dtype": "float64"}],
    "nonzero": [{}],
    "squeeze": [],
    "vecdot": [{"axis": 0}],
    "linalg.vecdot": [{"axis": -1}],
    "tensordot": [{"axes": 1}, {"axes": 0}, {"axes": ((0,), (0,))}],
    "linalg.tensordot": [{"axes": 1}],
    "linalg.cross": [{"axis": 0}],
    "linalg.trace": [{"offset": 1}, {"dtype": "float64"}],
    "linalg.diagonal": [{"offset": -1}],
    "linalg.vector_norm": [{"axis": 0}, {"ord": 1}, {"axis": (0, 1), "keepdims": True}],
    "linalg.matrix_norm": [{"ord": "nuc"}, {"ord": 1, "keepdims": True}],
    "linalg.matrix_rank": [{}],
    "linalg.pinv": [{}],
    "linalg.qr": [{"mode": "complete"}],
    "linalg.svd": [{"full_matrices": False}],
    "linalg.cholesky": [{"upper": True}],
    "fft.fft": [{"n": 4, "axis": 0}, {"norm": "ortho"}],
    "fft.rfft": [{"n": 4}, {"norm": "forward"}],
    "fft.irfft": [{"n": 5}],
    "fft.fftn": [{"axes": (0,)}, {"s": (4,), "axes": (0,)}],
    "fft.fftshift": [{"axes": 0}],
}

OTHERS = {
    "expand_dims": [
        lambda xp, x: xp.expand_dims(x, axis=0),
        lambda xp, x: xp.expand_dims(x, axis=-1),
    ],
    "squeeze": [lambda xp, x: xp.squeeze(x, axis=0), lambda xp, x: xp.squeeze(x, axis=(0,))],
    "reshape": [
        lambda xp, x: xp.reshape(x, (-1,)),
        lambda xp, x: xp.reshape(x, (3, -1), copy=True),
    ],
    "permute_dims": [lambda xp, x: xp.permute_dims(x, (1, 0))],
    "moveaxis": [lambda xp, x: xp.moveaxis(x, 0, -1), lambda xp, x: xp.moveaxis(x, (0, 1), (1, 0))],
    "roll": [lambda xp, x: xp.roll(x, 1), lambda xp, x: xp.roll(x, (1, 2), axis=(0, 1))],
    "repeat": [
        lambda xp, x: xp.repeat(x, 2),
        lambda xp, x: xp.repeat(x, 2, axis=0),
        lambda xp, x: xp.repeat(x, xp.asarray([1, 0, 2]), axis=-1),
    ],
    "tile": [lambda xp, x: xp.tile(x, (2,)), lambda xp, x: xp.tile(x, (2, 1, 2))],
    "broadcast_to": [
        lambda xp, x: xp.broadcast_to(x, (2, 3, 3)),
        lambda xp, x: xp.broadcast_to(x, (4, 3)),
    ],
    "broadcast_arrays": [lambda xp, x: xp.broadcast_arrays(x, xp.ones((3,)))],
    "concat": [
        lambda xp, x: xp.concat([x, x]),
        lambda xp, x: xp.concat((x, xp.ones(x.shape, dtype=xp.float64)), axis=-1),
        lambda xp, x: xp.concat([x, x], axis=None),
    ],
    "stack": [lambda xp, x: xp.stack([x, x]), lambda xp, x: xp.stack((x, x), axis=-1)],
    "meshgrid": [lambda xp, x: xp.meshgrid(x, x), lambda xp, x: xp.meshgrid(x, x, indexing="ij")],
    "astype": [
        *[lambda xp, x, name=name: xp.astype(x, getattr(xp, name)) for name in DTYPES],
        lambda xp, x: xp.astype(x, x.dtype, copy=False),
    ],
    "take": [
        lambda xp, x: xp.take(x, xp.asarray([0, 0, 1]), axis=0),
        lambda xp, x: xp.take(x, xp.asarray([2, 0]), axis=-1),
        lambda xp, x: xp.take(x, xp.asarray([0, 1])),
    ],
    "take_along_axis": [
        lambda xp, x: xp.take_along_axis(x, xp.zeros(x.shape, dtype=xp.int64)),
        lambda xp, x: xp.take_along_axis(x, xp.zeros((1, 3), dtype=xp.int64), axis=0),
    ],
    "searchsorted": [
        lambda xp, x: xp.searchsorted(xp.sort(x), x),
        lambda xp, x: xp.searchsorted(x, x, side="right", sorter=xp.argsort(x)),
    ],
    "where": [
        lambda xp, x: xp.where(x == x, x, xp.zeros_like(x)),
        lambda xp, x: xp.where(xp.asarray(True), x, xp.ones((3,), dtype=xp.float32)),
        lambda xp, x: xp.where(xp.asarray([True, False, True]), x, 1),
    ],
    "full_like": [
        lambda xp, x: xp.full_like(x, 1),
        lambda xp, x: xp.full_like(x, 2.5, dtype=xp.float32),
    ],
    "linalg.matrix_power": [
        lambda xp, x: xp.linalg.matrix_power(x, 3),
        lambda xp, x: xp.linalg.matrix_power(x, 0),
    ],
    "linalg.inv": [lambda xp, x: xp.linalg.inv(x + 9 * xp.eye(3, dtype=x.dtype))],
    "linalg.eigh": [lambda xp, x: xp.linalg.eigh(x + xp.conj(xp.matrix_transpose(x)))],
    "linalg.eigvalsh": [lambda xp, x: xp.linalg.eigvalsh(x + xp.conj(xp.matrix_transpose(x)))],
    "linalg.cholesky": [
        lambda xp, x: xp.linalg.cholesky(
            x @ xp.conj(xp.matrix_transpose(x)) + xp.eye(3, dtype=x.dtype)
        )
    ],
    "linalg.solve": [
        lambda xp, x: xp.linalg.solve(
            x + 9 * xp.eye(3, dtype=x.dtype), xp.ones((3,), dtype=x.dtype)
        ),
        lambda xp, x: xp.linalg.solve(
            x + 9 * xp.eye(3, dtype=x.dtype), xp.ones((3, 2), dtype=x.dtype)
        ),
    ],
    "linalg.outer": [lambda xp, x: xp.linalg.outer(x, xp.ones((2,), dtype=xp.float64))],
    "fft.ifftn": [lambda xp, x: xp.fft.ifftn(x)],
    "asarray": [
        lambda xp, x: xp.asarray(x),
        lambda xp, x: xp.asarray(x, dtype=xp.complex128),
        lambda xp, x: xp.asarray(x, copy=False),
    ],
    "from_dlpack": [lambda xp, x: xp.from_dlpack(x)],
}

CREATING = {
    "arange": [
        lambda xp: xp.arange(3),
        lambda xp: xp.arange(1, 4, 2, dtype=xp.float32),
        lambda xp: xp.arange(1.0, 2.0, step=0.25),
        lambda xp: xp.arange(5, stop=1, step=-1),
    ],
    "asarray": [
        lambda xp: xp.asarray(1),
        lambda xp: xp.asarray(1.0),
        lambda xp: xp.asarray(True),
        lambda xp: xp.asarray(1j),
        lambda xp: xp.asarray([[1, 2], [3, 4]]),
        lambda xp: xp.asarray([[1, 2.5], [3, 4]]),
        lambda xp: xp.asarray([]),
        lambda xp: xp.asarray([1, 2], dtype=xp.uint8, device=None),
        lambda xp: xp.asarray((True, False)),
    ],
    "zeros": [lambda xp: xp.zeros(3), lambda xp: xp.zeros((2, 0), dtype=xp.int8)],
    "ones": [lambda xp: xp.ones(()), lambda xp: xp.ones((2, 2), dtype=xp.bool)],
    "full": [
        lambda xp: xp.full((2, 3), 1),
        lambda xp: xp.full(2, 1.5),
        lambda xp: xp.full((), True),
        lambda xp: xp.full((2,), 1j),
        lambda xp: xp.full((2,), 1, dtype=xp.float32),
    ],
    "eye": [
        lambda xp: xp.eye(2),
        lambda xp: xp.eye(2, 3, k=1, dtype=xp.int16),
        lambda xp: xp.eye(0, 2),
    ],
    "linspace": [
        lambda xp: xp.linspace(0, 1, 5),
        lambda xp: xp.linspace(0.0, 1.0, num=4, endpoint=False, dtype=xp.float32),
        lambda xp: xp.linspace(0j, 1j, 3),
    ],
    "empty": [lambda xp: xp.empty((0, 3), dtype=xp.float32)],
    "fft.fftfreq": [lambda xp: xp.fft.fftfreq(5), lambda xp: xp.fft.fftfreq(4, d=0.5)],
    "fft.rfftfreq": [lambda xp: xp.fft.rfftfreq(5)],
}
