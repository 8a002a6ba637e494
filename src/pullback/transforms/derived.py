"""jacobian, hessian, hvp, elementwise_grad: combinations of the other transformations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.array import Array, peel
from ..core.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError, name_of
from ..core.messages import brief, check_flag, describe
from ..core.reach.calls import call_inside
from ..core.spec import Spec, is_inexact, spec_of
from ..core.tree import flatten, is_static, tree_map, unflatten
from ..core.usage import usage
from .arguments import Lifted, Selection
from .batch import vmap
from .forward import along, jvp
from .linearize import linearized
from .returned import holds_numbers
from .reverse import Grad, pulled_back
from .transformation import Transformation


class Selecting(Transformation):
    """A transformation of a function in some of its arguments."""

    def __init__(self, fun: Any, argnums: int | Sequence[int]) -> None:
        super().__init__(fun)
        self.selection = Selection(argnums, self.verb)

    def split(self, args: Any, kwargs: dict[str, Any]) -> tuple[Callable[..., Any], list[Any]]:
        """fun of the selected arguments alone, and these."""
        positions = self.selection.positions(self.fun, args, kwargs)
        fun = self.fun
        if not kwargs and tuple(positions) == tuple(range(len(args))):
            for position, x in enumerate(args):
                if type(x) is not np.ndarray or x.dtype.kind not in "fc":
                    Lifted(x, self.verb, fun, position)
            return fun, list(args)

        def of_selected(*selected: Any) -> Any:
            whole = list(args)
            for position, x in zip(positions, selected, strict=True):
                whole[position] = x
            return call_inside(fun, whole, kwargs)

        of_selected.__name__ = of_selected.__qualname__ = name_of(fun)
        selected = [args[i] for i in positions]
        for position, x in zip(positions, selected, strict=True):
            Lifted(x, self.verb, fun, position)  # what cannot be differentiated raises in our name
        return of_selected, selected


class SecondOrder(Selecting):
    """A derivative of the gradient, which is made once."""

    def __init__(self, fun: Any, argnums: int | Sequence[int]) -> None:
        super().__init__(fun, argnums)
        self.gradient = self.new_gradient(fun)

    def new_gradient(self, fun: Any) -> Grad:
        """The gradient by the first arguments of a function, in our name."""
        single = self.selection.single
        gradient = Grad(fun, 0 if single else tuple(range(len(self.selection.numbers))), False)
        gradient.verb = self.verb
        return gradient

    def gradient_of(self, fun: Any) -> Grad:
        """The gradient of what `split` gives."""
        return self.gradient if fun is self.fun else self.new_gradient(fun)


class Reruns:
    """A pushforward that runs the function anew for each direction."""

    def __init__(self, fun: Any, primals: Any) -> None:
        self.fun, self.primals = fun, tuple(primals)

    def __call__(self, *tangents: Any) -> Any:
        return jvp(self.fun, self.primals, tangents)[1]

    def over_rows(self, push: Any, directions: Any) -> Any:
        rows = [flatten(push(direction)) for direction in directions]
        columns = zip(*[leaves for leaves, _ in rows], strict=True)
        stacks = [x[0] if is_static(x[0]) else np.stack(x) for x in columns]
        return unflatten(rows[0][1], stacks)


class Jacobian(Selecting):
    verb = "jacobian"

    def __init__(
        self, fun: Any, argnums: int | Sequence[int], mode: str, holomorphic: bool
    ) -> None:
        if not isinstance(mode, str) or mode not in ("auto", "forward", "reverse"):
            raise ArgumentError(
                f"`{self.verb}` takes mode 'auto', 'forward' or 'reverse', but got {brief(mode)}.\n"
                f"  Write `mode='{'forward' if str(mode)[:1] in 'fF' else 'reverse'}'`."
            )
        super().__init__(fun, argnums)
        self.mode, self.holomorphic = mode, holomorphic

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        fun, selected = self.split(args, kwargs)
        if self.mode == "reverse":
            out, pullback = pulled_back(fun, selected, self.verb)
            return self.backward(out, pullback, selected)
        if self.mode == "auto":
            # The sizes decide, and that of the output is known after a run only.
            out, pushforward = linearized(fun, selected, self.verb)
            if numbers_in(selected) > numbers_in([out]):
                again, pullback = pulled_back(fun, selected, self.verb)
                self.insist_equal(out, again)
                return self.backward(again, pullback, selected)
        else:
            out, pushforward = linearized(fun, selected, self.verb)
        reruns = pushforward.degenerate
        return self.forward(out, Reruns(fun, selected) if reruns else pushforward, selected)

    def insist_equal(self, out: Any, again: Any) -> None:
        """Raise where the two runs of the function were not alike."""
        leaves, others = flatten(out)[0], flatten(again)[0]
        if len(leaves) != len(others) or not all(map(same_numbers, leaves, others)):
            name = name_of(self.fun)
            raise ArgumentError(
                f"`{self.verb}({name})` ran `{name}` twice, to see how many outputs it has, and the"
                " results differ: it stores something that it reads, or draws random numbers.\n"
                "  Name the mode, and it runs once: `mode='reverse'`."
            )

    def check(self, xs: list[Any], outs: list[Any]) -> None:
        for out in outs:
            counts = holds_numbers(out) and spec_of(out).dtype.kind in "biufc"
            if not (counts or is_static(out)):
                raise ArgumentTypeError(
                    f"`{self.verb}({name_of(self.fun)})` needs arrays, numbers and trees of them as"
                    f" output, but got {describe(out)}.\n"
                    "  Leave it out, or register its class with `pullback.register_tree`."
                )
        complex_x = "c" in [spec_of(x).dtype.kind for x in xs]
        complex_out = "c" in [spec_of(out).dtype.kind for out in outs]
        if self.holomorphic and not (complex_x and complex_out):
            raise DtypeError(
                f"`{self.verb}({name_of(self.fun)}, holomorphic=True)` needs complex arguments and"
                " outputs.\n  Leave `holomorphic` out for a real function."
            )
        if not self.holomorphic and complex_x and complex_out:
            raise DtypeError(
                f"`{self.verb}({name_of(self.fun)})` maps complex to complex numbers, and has one"
                " complex derivative only if it is holomorphic.\n"
                "  Say so with `holomorphic=True`, or differentiate its real and imaginary parts."
            )

    def forward(self, out: Any, pushforward: Any, selected: list[Any]) -> Any:
        if len(selected) == 1 and type(selected[0]) is np.ndarray is type(out):
            self.check(selected, [out])  # one array of another: no trees
            (part,) = self.columns(pushforward, spec_of(selected[0]), out, pushforward.over_rows)
            return self.selection.pick([as_result(part)])
        trees, outs = [], flatten(out)[0]
        for k, arg in enumerate(selected):
            leaves, structure = flatten(arg)
            self.check(moving(arg), outs)
            columns: list[Any] = []
            for j, leaf in enumerate(leaves):
                if is_static(leaf):
                    columns.append(None)
                    continue
                spec = float_spec(leaf)

                def push(direction: Any, k: int = k, j: int = j) -> Any:
                    dots = [
                        direction if i == j else zero_tangent(x)
                        for i, x in enumerate(leaves)  # noqa: B023  # called at once
                    ]
                    tangents: list[Any] = [None] * len(selected)
                    tangents[k] = unflatten(structure, dots)  # noqa: B023  # called in this turn
                    return pushforward(*tangents)

                columns.append(self.columns(push, spec, out, pushforward.over_rows))
            trees.append((structure, columns))
        return self.assemble(out, trees)

    def columns(self, push: Any, spec: Spec, out: Any, over_rows: Any) -> list[Any]:
        """The derivatives of each output leaf with respect to one leaf of an argument."""
        outs, structure = flatten(out)
        if not spec.size:
            return [None if is_static(o) else empty(o, spec) for o in outs]
        directions = basis(spec)
        block = over_rows(push, directions)
        if spec.dtype.kind == "c" and not self.holomorphic:
            # For a real output df/dx - i df/dy, as `grad` has it.
            block = merge(block, over_rows(push, -1j * directions))
        parts = [block] if structure is None else structure.flatten_up_to(block)
        parts = [
            part if part is None or is_inexact(part.dtype) else part.astype(spec.dtype)
            for part in parts
        ]
        # Zeros are +0.0: what they were multiplied by says nothing of a derivative.
        return [
            None if is_static(o) else last_axis(part + 0.0, spec.shape)
            for o, part in zip(outs, parts, strict=True)
        ]

    def backward(self, out: Any, pullback: Any, selected: list[Any]) -> Any:
        outs, out_structure = flatten(out)
        self.check([x for arg in selected for x in moving(arg)], outs)
        blocks = []  # for each output leaf, the cotangents of all arguments
        for i, leaf in enumerate(outs):
            spec = spec_of(leaf)
            if is_static(leaf):
                blocks.append((spec, None))
                continue

            def pull(weight: Any, i: int = i) -> Any:
                bars = [np.zeros_like(o) if o is not None and not is_static(o) else o for o in outs]
                bars[i] = weight
                return pullback(unflatten(out_structure, bars))

            if spec.size:
                directions = basis(spec)
                rows = vmap(pull)(directions)
                if spec.dtype.kind == "c" and not self.holomorphic:
                    # Re(w out) for w = 1 and w = -i are the real and the imaginary part.
                    imaginary = vmap(pull)(-1j * directions)
                    rows = tuple([merge(re, im) for re, im in zip(rows, imaginary, strict=True)])
            else:
                rows = tuple([tree_map(lambda x: empty_rows(x), arg) for arg in selected])
            blocks.append((spec, rows))
        trees = []
        for k, arg in enumerate(selected):
            leaves, structure = flatten(arg)
            columns: list[Any] = []
            for j, leaf in enumerate(leaves):
                if is_static(leaf):
                    columns.append(None)
                    continue
                columns.append([])
                for spec, rows in blocks:
                    if rows is None:
                        columns[-1].append(None)
                        continue
                    part = rows[k] if structure is None else structure.flatten_up_to(rows[k])[j]
                    shape = (*spec.shape, *float_spec(leaf).shape)
                    columns[-1].append(np.reshape(part, shape))
            trees.append((structure, columns))
        return self.assemble(out, trees)

    def assemble(self, out: Any, trees: Any) -> Any:
        """The tree of the output outside, the tree of the argument inside."""
        outs, out_structure = flatten(out)
        results: list[Any] = []
        for i, leaf in enumerate(outs):
            if is_static(leaf):
                results.append(None)
                continue
            inner = [
                unflatten(structure, [None if c is None else c[i] for c in columns])
                for structure, columns in trees
            ]
            results.append(self.selection.pick(inner))
        return unflatten(out_structure, [as_result(x) for x in results])


def same_numbers(x: Any, y: Any) -> bool:
    """Whether two leaves of results are equal up to rounding, if they are numbers."""
    a, b = peel(x), peel(y)
    if type(a) is np.float64 and a == b:
        return True
    if not holds_numbers(a) or not is_inexact(spec_of(a).dtype):
        return True
    if np.array_equal(a, b):
        return True
    return bool(np.shape(a) == np.shape(b) and np.allclose(a, b, 1e-6, 0.0, equal_nan=True))


def last_axis(part: Any, shape: tuple[int, ...]) -> Any:
    """The first axis, along which the directions stand, as the last ones."""
    n = len(part.shape)
    if n > 1:
        part = part.transpose((*range(1, n), 0))
    return part if len(shape) == 1 else np.reshape(part, (*part.shape[:-1], *shape))


def as_result(tree: Any) -> Any:
    """Zero-dimensional results are NumPy scalars; all are fresh."""
    if type(tree) is np.ndarray:
        return np.array(tree) if tree.ndim else tree[()]
    return tree_map(
        lambda x: x if type(x) is Array or x is None else (x[()] if x.ndim == 0 else np.array(x)),
        tree,
    )


def merge(real: Any, imaginary: Any) -> Any:
    a, structure = flatten(real)
    b, _ = flatten(imaginary)
    return unflatten(structure, [x + 1j * y for x, y in zip(a, b, strict=True)])


def moving(tree: Any) -> list[Any]:
    """The leaves that are not static ones."""
    if type(tree) is np.ndarray:
        return [tree]
    return [x for x in flatten(tree)[0] if not is_static(x)]


def numbers_in(trees: Any) -> int:
    """How many numbers a list of trees holds."""
    count = 0
    for tree in trees:
        if type(tree) is np.ndarray:
            count += tree.size
        else:
            count += sum([spec_of(x).size for x in moving(tree)])
    return count


def float_spec(leaf: Any) -> Spec:
    """A Python number counts as a float64."""
    return Spec((), np.float64) if isinstance(leaf, int) else spec_of(leaf)


def zero_tangent(leaf: Any) -> Any:
    if is_static(leaf):
        return leaf
    return np.zeros_like(leaf) if type(leaf) is Array else np.zeros(*spec_pair(leaf))


def spec_pair(leaf: Any) -> tuple[tuple[int, ...], Any]:
    spec = float_spec(leaf)
    return spec.shape, spec.dtype


def basis(spec: Spec) -> np.ndarray:
    """The unit vectors of a shape, one after another."""
    return np.eye(spec.size, dtype=spec.dtype).reshape(spec.size, *spec.shape)


def empty(out: Any, spec: Spec) -> Any:
    dtype = spec_of(out).dtype
    return np.zeros((*spec_of(out).shape, *spec.shape), dtype if is_inexact(dtype) else spec.dtype)


def empty_rows(x: Any) -> Any:
    return x if is_static(x) else np.zeros((0, *float_spec(x).shape), float_spec(x).dtype)


class Hessian(SecondOrder):
    verb = "hessian"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        fun, selected = self.split(args, kwargs)
        if any(spec_of(x).dtype.kind == "c" for arg in selected for x in moving(arg)):
            raise DtypeError(
                f"`hessian({name_of(self.fun)})` needs real arguments; with complex ones a second"
                " derivative is not a matrix.\n"
                "  Pass real and imaginary parts as separate arguments, or use `hvp`."
            )
        gradient = self.gradient_of(fun)
        return Jacobian(gradient, gradient.selection.argnums, "forward", False)(*selected)


class Hvp(SecondOrder):
    verb = "hvp"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if len(args) < 2:
            raise ArgumentTypeError(
                f"`hvp({name_of(self.fun)})` takes the arguments of `{name_of(self.fun)}` and then"
                " a direction, but got"
                f" {len(args)} argument{'s' if len(args) != 1 else ''}.\n"
                f"  Write `hvp({name_of(self.fun)})(x, v)`."
            )
        *rest, v = args
        fun, selected = self.split(tuple(rest), kwargs)
        if self.selection.single:
            v = (v,)
        elif not isinstance(v, (tuple, list)) or len(v) != len(selected):
            raise ArgumentError(
                f"`hvp({name_of(self.fun)}, argnums={self.selection.argnums})` takes as last"
                f" argument a tuple of {len(selected)} directions, but got {describe(v)}.\n"
                "  Give one for each selected argument, as in `(np.ones_like(x), np.ones_like(y))`."
            )
        return along(self.gradient_of(fun), selected, v, "a direction", self.verb, self.fun)[1]


class ElementwiseGrad(Selecting):
    verb = "elementwise_grad"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        fun, selected = self.split(args, kwargs)
        out, pullback = pulled_back(fun, selected, self.verb)
        if not holds_numbers(out):
            raise ArgumentTypeError(
                f"`elementwise_grad({name_of(self.fun)})` needs one array as output, but got"
                f" {describe(out)}."
            )
        spec = spec_of(out)
        if spec.dtype.kind == "c":
            raise DtypeError(
                f"`elementwise_grad` needs a real output, but `{name_of(self.fun)}` returned"
                f" {spec}.\n  Take its `.real`, `.imag` or `abs`, or use `jacobian`, with"
                " `holomorphic=True` where arguments are complex as well."
            )
        for x in [x for arg in selected for x in moving(arg)]:
            shape = spec_of(x).shape
            if not extends(shape, spec.shape):
                raise ShapeError(
                    "`elementwise_grad` takes a function that maps each element by itself, but"
                    f" `{name_of(self.fun)}` maps shape {shape} to {spec.shape}.\n"
                    "  Use `jacobian` for a function that mixes elements."
                )
        return self.selection.pick(pullback(np.ones_like(out)))


def extends(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    """Whether an array of the small shape broadcasts to the large one."""
    lead = len(large) - len(small)
    return lead >= 0 and all(a in (1, b) for a, b in zip(small, large[lead:], strict=True))


@usage("jacobian(f)(x)")
def jacobian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    mode: str = "auto",
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian: every derivative of every output.

    >>> import numpy as np
    >>> jacobian(lambda x: x**2)(np.array([1.0, 3.0]))
    array([[2., 0.],
           [0., 6.]])

    J[i, j] = d out[i] / dx[j]; a leaf has shape out.shape + x.shape. The tree of the output is
    outside, that of the argument inside, and where argnums is a tuple, a tuple between them.

    Args:
        fun, argnums: as in `grad`, but for the output, which is any tree of arrays.
        mode: "forward" costs one pass for each number in the arguments, "reverse" one for each in
            the outputs; "auto" takes forward if there are at most as many of the former. To see
            that, fun runs, and once more for reverse: name the mode of a function that stores
            something or draws random numbers.
        holomorphic: promise that fun is complex differentiable; the result is d(out)/dx.

    Raises:
        DtypeError: complex to complex without `holomorphic=True`, or the promise without complex.
        ArgumentError: with "auto", two runs of fun gave different results.
    """
    check_flag(holomorphic, "holomorphic", "jacobian")
    return Jacobian(fun, argnums, mode, holomorphic)


@usage("hessian(f)(x)")
def hessian(fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of a scalar function, forward over reverse.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] * x[1] ** 2)(np.array([1.0, 3.0]))
    array([[0., 6.],
           [6., 2.]])

    H[i, j] = d2 out / (dx[i] dx[j]), of the shape of x twice over. For trees it is a tree of trees;
    for a tuple argnums a tuple of tuples.

    Args:
        fun, argnums: as in `grad`.

    Raises:
        NonScalarOutputError: fun returned something else than one number.
    """
    return Hessian(fun, argnums)


@usage("hvp(f)(x, v)")
def hvp(fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return a function that computes Hessian-vector products, without the Hessian.

    >>> import numpy as np
    >>> hvp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])

    H @ v, of the shape of x. The direction v comes last: like the selected argument, or a tuple
    where argnums is one. The cost is a small multiple of that of the gradient.

    Args:
        fun, argnums: as in `grad`.

    Raises:
        ShapeError: the direction has another shape than the argument.
        NonScalarOutputError: fun returned something else than one number.
    """
    return Hvp(fun, argnums)


@usage("elementwise_grad(f)(x)")
def elementwise_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0
) -> Callable[..., Any]:
    """Return the derivative of a function that maps each element by itself, at every element.

    >>> import numpy as np
    >>> elementwise_grad(np.tanh)(np.zeros(3))
    array([1., 1., 1.])

    d out[i] / dx[i] for each i, of the shape of x. That each element goes by itself is a promise:
    of a function that mixes elements and keeps their shape, such as `numpy.cumsum`, the result is
    the sums of the columns of its Jacobian.

    Args:
        fun, argnums: as in `grad`, but for the output, which has the shape of x.

    Raises:
        ShapeError: the output does not have the shape to which the arguments broadcast.
    """
    return ElementwiseGrad(fun, argnums)
