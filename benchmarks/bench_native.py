"""Programs of small matrices beside C++ written by hand, `native/peers.cpp`, built by g++ -O3.

Hand tracking, after ADBench's: 22 bones turned along a tree move the vertices of a mesh; residuals
of points on its triangles, and their Jacobian with 28 columns, by 26 angles and by the two
coordinates of each point in its triangle. Determinants of 7 rows by minors, value and gradient.
Processor time, interleaved, of one thread. Run with `python benchmarks/bench_native.py [words]`.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from bench_never_slower import minors
from common import interleaved, settled, table

import pullback as pb

N_BONES, N_VERTICES, N_ANGLES = 22, 544, 26


def library() -> Any:
    source = Path(__file__).parent / "native" / "peers.cpp"
    out = Path(tempfile.mkdtemp()) / "peers.so"
    command = ["g++", "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(out)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(out))


def pointers(*xs: Any) -> list[Any]:
    return [ctypes.c_void_p(x.ctypes.data) if isinstance(x, np.ndarray) else x for x in xs]


class Hand:
    """A hand with bones, vertices and points that were seen, from a seed."""

    def __init__(self, n_points: int) -> None:
        random = np.random.default_rng(0)
        bones = np.arange(N_BONES)
        self.parents = np.where((bones - 2) % 4 == 0, 1, bones - 1).astype(np.int32)
        self.relatives = np.tile(np.eye(4), (N_BONES, 1, 1))
        self.relatives[:, :3] += 0.1 * random.standard_normal((N_BONES, 3, 4))
        self.inverses = np.tile(np.eye(4), (N_BONES, 1, 1))
        self.inverses[:, :3] += 0.1 * random.standard_normal((N_BONES, 3, 4))
        self.places = np.ones((N_VERTICES, 4))
        self.places[:, :3] = random.standard_normal((N_VERTICES, 3))
        self.weights = random.random((N_BONES, N_VERTICES))
        self.weights /= self.weights.sum(axis=0)
        self.points = random.standard_normal((n_points, 3))
        self.triangles = random.integers(0, N_VERTICES, (n_points, 3)).astype(np.int32)
        self.theta = 0.3 * random.standard_normal(N_ANGLES) + 0.5
        self.us = random.random((n_points, 2)) / 2

    def angles(self, theta: Any) -> Any:
        """Those of each bone."""
        zero, angles = theta[0] * 0, []
        left = iter(range(6, N_ANGLES))
        for bone in range(N_BONES):
            k = (bone - 2) % 4
            bends = bone >= 2 and k != 3
            x = theta[next(left)] if bends else zero
            y = theta[next(left)] if bends and k == 0 else zero
            angles.append([x, y])
        return angles

    def residuals(self, theta: Any, us: Any) -> Any:
        absolute: list[Any] = []
        for bone, (x, y) in enumerate(self.angles(theta)):
            relative = self.relatives[bone] @ turned(x, y)
            parent = self.parents[bone]
            absolute.append(relative if parent < 0 else absolute[parent] @ relative)
        moved = np.stack(absolute) @ self.inverses
        spread = (moved[:, :3] @ self.places.T) * self.weights[:, None, :]
        skin = np.sum(spread, axis=0)
        vertices = whole_turn(theta[:3]) @ skin + theta[3:6, None]
        x, y, z = [vertices[:, self.triangles[:, k]].T for k in range(3)]
        u, v = us[:, :1], us[:, 1:]
        return self.points - (u * x + v * y + (1 - u - v) * z)

    def jacobian(self, theta: Any, us: Any) -> Any:
        """A column for each angle, and two for the places of all points in their triangles."""
        angles = np.eye(N_ANGLES)
        places = np.broadcast_to(np.eye(2)[:, None], (2, len(us), 2))
        by_angle = lambda dot: pb.jvp(lambda theta: self.residuals(theta, us), (theta,), (dot,))
        by_place = lambda dot: pb.jvp(lambda us: self.residuals(theta, us), (us,), (dot,))[1]
        out, of_angles = pb.vmap(by_angle, out_axes=(None, 2))(angles)
        return out, of_angles, pb.vmap(by_place, out_axes=2)(places)

    def native(self, peers: Any) -> Callable[[Any, Any], Any]:
        def run(theta: Any, us: Any) -> Any:
            out = np.empty((len(us), 3))
            jacobian = np.empty((len(us), 3, N_ANGLES + 2))
            given = [
                theta, us, N_BONES, self.parents, self.relatives, self.inverses, N_VERTICES,
                self.places, self.weights, len(us), self.points, self.triangles, out, jacobian,
            ]  # fmt: skip
            peers.hand(*pointers(*given))
            return out, jacobian[..., :N_ANGLES], jacobian[..., N_ANGLES:]

        return run


def turned(x: Any, y: Any) -> Any:
    """A turn about x, and then about y."""
    cx, sx, cy, sy = np.cos(x), np.sin(x), np.cos(y), np.sin(y)
    return np.array(
        [[cy, sy * sx, sy * cx, 0.0], [0.0, cx, -sx, 0.0], [-sy, cy * sx, cy * cx, 0.0],
         [0.0, 0.0, 0.0, 1.0]]
    )  # fmt: skip


def whole_turn(r: Any) -> Any:
    """The rotation about a vector by its length."""
    size = np.sqrt(np.sum(r**2))
    x, y, z = r / size
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    axis = r / size
    return (
        np.cos(size) * np.eye(3) + np.sin(size) * cross
        + (1 - np.cos(size)) * np.outer(axis, axis)
    )  # fmt: skip


def rows(words: list[str]) -> list[tuple[str, Any, Any, tuple[Any, ...]]]:
    """Name, ours, native, arguments."""
    peers = library()
    peers.minors7.restype = ctypes.c_double
    a = np.eye(7) * 3 + np.sin(np.arange(49.0)).reshape(7, 7)

    def gradient_of_minors(a: Any) -> Any:
        out = np.empty((7, 7))
        peers.minors7_gradient(*pointers(a, out))
        return out

    found = []
    for n_points in (100, 1000, 10_000):
        hand = Hand(n_points)
        args = (hand.theta, hand.us)
        found.append((f"hand tracking, {n_points} points", hand.jacobian, hand.native(peers), args))
    found += [
        ("minors of 7 rows, value", minors, lambda a: peers.minors7(*pointers(a)), (a,)),
        ("minors of 7 rows, gradient", pb.grad(minors), gradient_of_minors, (a,)),
    ]
    return [row for row in found if not words or any(word in row[0] for word in words)]


def main(words: list[str]) -> None:
    lines = [["", "native, us", "compiled, us", "ratio", "first call, s"]]
    for name, ours, native, args in rows(words):
        expected = native(*args)
        fast = pb.compile(ours)
        start = time.process_time()
        found = fast(*args)
        first = time.process_time() - start
        several = isinstance(found, tuple)
        for x, y in zip(found, expected, strict=True) if several else [(found, expected)]:
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)
        settled(fast, *args)
        calls = {"native": lambda: native(*args), "ours": lambda: fast(*args)}
        times = interleaved(calls, 41, time.process_time, warm=True)
        mine, theirs = 1e6 * times["ours"], 1e6 * times["native"]
        lines.append([name, f"{theirs:.1f}", f"{mine:.1f}", f"{mine / theirs:.2f}", f"{first:.2f}"])
        print(lines[-1], fast.why() if hasattr(fast, "why") else "", flush=True)
    print(table(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
