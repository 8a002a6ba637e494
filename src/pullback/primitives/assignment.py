"""Assignment: x[key] = v, in-place operators, and NumPy's functions that write into an array.

If an Array owns its buffer, it's written in place; otherwise it's copied first. So n assignments
take time proportional to n, and the operands that an operation keeps for its derivative never
change. Writing to a view writes to its root as well, and a view is read again when its root has
changed. This gives NumPy's aliasing although no two Arrays share memory that is written to.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy import ndarray

from ..core.array import Array, is_number, peel, raw, snapshot, stop
from ..core.cotangent import Buffer, dense, holds_array, unbroadcast
from ..core.errors import ArgumentError, DtypeError, ShapeError
from ..core.instances import numbers_of
from ..core.kinds import Linear
from ..core.layout import duplicate
from ..core.locked import refuse_locked
from ..core.operands import as_mask, operand
from ..core.registry import replaces
from ..core.spec import Spec, is_inexact, spec_of
from ..core.storage import TALLY, WRITERS, adopt, catch_up, is_flat, root_of, root_storage
from ..core.trace import CONSTANT, running, youngest
from ..core.writes import go_ahead, goes_on_ahead, reach, return_lent
from ..core.written_numbers import TEXTS, warn_read_in
from .arguments import as_array, somewhere, surely
from .indexing import along, getitem_p
from .keys import INDEX, basic, batched, fill, in_order, mapped, nonzero, parse
from .latest import by_rows, latest, picked
from .operands import KNOWN, check_written, takes_over
from .overlapping import copy_where, refuse_flat, refuse_masked, refuse_selected, refuse_stretched
from .reading import element, masks
from .selections import MaskedRows
from .shapes import apart, for_each


class Setitem(Linear):
    """x with v at a key of the view at the end of a path; linear in x and v together.

    With `donate`, x is written to in place.
    """

    lower = "put"
    nondiff = ()

    def value(self, x, v, *arrays, path, key, donate):
        out = x if donate and hasattr(x, "__setitem__") else duplicate(x, repeated=False)
        view, key = reach(out, path, fill(key, arrays))
        view[key] = v
        return out

    def spec(self, x, v, *arrays, path, key, donate):
        return Spec(x.shape, x.dtype)

    def reads_for(self, wanted):
        return frozenset([f"x{i}" for i in range(2, len(wanted))])

    def jvp(self, out, xs, x_dots, *, path, key, donate):
        arrays = xs[2:]
        x_dot, v_dot = x_dots[:2]
        if x_dot is None:
            x_dot, donate = np.zeros_like(out), True
        elif not donate:
            x_dot = np.copy(x_dot)
        v_dot = 0.0 if v_dot is None else v_dot
        # What is written in place must not have been noted by another trace.
        donate = type(x_dot) is Array or Array not in map(type, (v_dot, *arrays))
        return self(x_dot, v_dot, *arrays, path=path, key=key, donate=donate)

    def vjp(self, out_bar, residual, wanted):
        x, v, *arrays = residual.xs
        static = residual.static
        buffer = out_bar if type(out_bar) is Buffer else Buffer(out_bar)
        part = buffer.take(static["path"], fill(static["key"], arrays))
        v_bar = None
        if wanted[1] and part is not None:
            if arrays:
                target = view_spec(x, static["path"])
                part = picked(part, latest(target, static["key"], arrays))
            # v may have axes of length 1 in front that x[key] lacks.
            v_bar = unbroadcast(
                part, Spec(v.shape[max(0, len(v.shape) - len(part.shape)) :], v.dtype)
            )
            v_bar = v_bar if v_bar.shape == v.shape else np.reshape(dense(v_bar), v.shape)
        return [buffer if wanted[0] else None, v_bar] + [None] * len(arrays)

    def pull(self, out_bar, residual, wanted):
        # As it is: a buffer goes on from assignment to assignment.
        return self.vjp(out_bar, residual.opened(), wanted)

    def batch(self, xs, mapped, size, *, path, key, donate):
        x, v, *arrays = xs
        if not mapped[0]:
            x, donate = for_each(x, size), True
        # v as x[key] has it for each example, and then with the axes where NumPy puts them.
        specs = [Spec(i.shape[m:], i.dtype) for i, m in zip(arrays, mapped[2:], strict=True)]
        target = view_spec(Spec(x.shape[1:], x.dtype), path)
        shape = getitem_p.spec(target, *specs, key=key).shape
        if mapped[1]:
            own = v.shape[1:]
            own = (1,) * (len(shape) - len(own)) + own[max(0, len(own) - len(shape)) :]
            v = np.reshape(v, (size, *own))
        key, arrays, source, destination = batched(key, arrays, mapped[2:], size)
        if source:
            v = np.moveaxis(np.broadcast_to(v, (size, *shape)), destination, source)
        v = in_order(v)
        path = tuple([(p, p.mapped_static(size, static)) for p, static in path])
        return self(x, v, *arrays, path=path, key=key, donate=donate)

    # The short way of a reverse trace for one number; see Trace.put.

    @staticmethod
    def put_rule(out_bar, key, wanted):
        buffer = out_bar if type(out_bar) is Buffer else Buffer(out_bar)
        return buffer, buffer.take_number(key)


setitem_p = Setitem("setitem")
Setitem.put_rule.primitive = setitem_p
Setitem.put_rule.operands = (0, 1)
Setitem.put_rule.unpack = lambda residual: [None, None, None]
Setitem.put_rule.rebuild = lambda residual, node, trace: residual


def view_spec(spec, path):
    """The spec of the view of an array at the end of a path."""
    for primitive, static in path:
        spec = primitive.spec(spec, **static)
    return spec


def setitem(x, key, v):
    """x[key] = v"""
    if is_flat(x):
        try:
            v = cycled(x, key, v)
        except IndexError:
            write_before_outside(x, key, v)
            raise
        rewind(x, key)
    if x.storage is not None and (type(key) is int or type(key) is tuple):
        root, place = (x, key) if x.storage.root is None else element(x, key)
        storage = root.storage
        if storage is not None and storage.ahead is not None and storage.root is None:
            catch_up(root)
        free = storage is not None and storage.owned and x.storage.locked is False
        if free and root.within.put(setitem_p, root, place, v):
            storage.version += 1
            TALLY.writes += 1
            return
    if basic(key):
        assign(x, key if type(key) is tuple else (key,), [], v)
        return
    if type(v) is Array and root_of(v) is root_of(x):
        refuse_masked(x, key, v)
    if type(v) is MaskedRows or masks(key, x):
        set_selected(x, key, v)
        return
    template, arrays, new = parse(x.shape, key)
    if new:  # a truth value as a key
        y = np.expand_dims(snapshot(x), new)
        setitem(y, fill(template, arrays), v)
        assign(x, (Ellipsis,), [], np.reshape(y, x.shape))
        return
    try:
        assign(x, template, *by_rows(arrays, v))
    except IndexError:
        if is_flat(x):
            write_before_outside(x, key, v)
        raise


def set_selected(x, mask, v):
    """x[mask] = v, where every example has a mask of its own."""
    rest = x.ndim - np.ndim(mask)
    if is_flat(x):  # `x.flat`, which takes what it needs of v
        place(x, mask, v)
        return
    if type(v) is MaskedRows:
        v = v.placed(mask)
    else:
        shape = np.shape(v)
        extra = max(0, len(shape) - rest)
        if prod(shape[:extra]) != 1:  # one value after the other
            assign(x, (INDEX,) * mask.ndim, list(nonzero(mask, "x[mask]")), v)
            return
        v = np.reshape(as_array(v), shape[extra:])
    assign(x, (Ellipsis,), [], np.where(np.reshape(mask, mask.shape + (1,) * rest), v, x))


def inside(places, n):
    """The places before the first that is out of range of n elements; none where none is.

    NumPy's loops over places have written there when they raise. None too if places are mapped.
    """
    places = np.ravel(places)
    outside = np.logical_or(places < -n, places >= n)
    return places[: int(np.argmax(outside))] if surely(outside) else places[:0]


def write_before_outside(x, key, v):
    """Write what NumPy has written in x.flat when it meets a place that is out of range."""
    key = key[0] if type(key) is tuple and len(key) == 1 else key
    if type(key) in (list, ndarray, Array):
        places = as_array(key)
        if places.dtype.kind in "iu" and places.ndim:
            places = inside(places, x.size)
            if places.size:
                setitem(x, places, v)


def cycled(x, key, v):
    """What is written to x.flat[key]: the elements of v, again and again, as many as are needed."""
    v = as_array(v) if type(v) in (list, tuple) else v
    refuse_flat(x, key, v)
    if type(key) is Array and key.within is CONSTANT:
        key = peel(key)
    if not np.ndim(v) or holds_array(key):
        return v
    if type(key) is Array:
        n = key.shape if key.dtype.kind in "iu" else ()
        return np.resize(v, n) if n and np.size(v) else v
    v, selected = as_array(v), np.broadcast_to(np.False_, x.shape)[key]
    if type(selected) is not ndarray:  # one element, for which NumPy takes no list
        return v
    return np.resize(v, selected.shape) if v.size else x[key]


def rewind(x, key):
    """Let an `x.flat` that is read or written at a key go on where NumPy's goes on."""
    if type(key) is tuple and all(k is Ellipsis for k in key):
        raise IndexError("unsupported iterator index")
    places = as_array(key) if isinstance(key, (list, ndarray, Array)) else None
    whole = places is not None and places.ndim and places.dtype.kind in "iu" and places.size
    last = np.ravel(places)[-1] % max(x.size, 1) if whole else 0
    x.storage.copies[0] = last if mapped(last) else int(last)


def is_element(x, key):
    """Whether a key names one floating element, in which NumPy writes a masked number as NaN."""
    number = x.dtype.kind == "f" and len(key) == x.ndim
    return number and all(isinstance(each, (int, np.integer)) for each in key)


def assign(x, key, arrays, v):
    """Write v into x at a key: into x itself, or into the Array that x is a view of."""
    if type(v) is not Array and type(v) is not float:
        v = float(v) if v is np.ma.masked and is_element(x, key) else plain_operand(v)
        if TEXTS:
            warn_read_in(v, "x[key] = text")
    root, path = x, ()
    if x.storage is not None:
        storage = x.storage
        if storage.locked is not False:
            refuse_locked()
        if storage.root is not None:
            root, path = storage.root, storage.path if storage.ahead is None else storage.ahead.path
    writable(root, path)
    if type(v) is Array and v.storage is not None and v.storage.root is root and not arrays:
        steps = () if key == (Ellipsis,) else ((getitem_p, {"key": key}),)
        if v.storage.path == (*path, *steps):
            return  # the last part of `x[key] += v`
        refuse_stretched(x, key, v)
    if root.storage is None:
        root.storage = root_storage()
    if root.storage.lent is not None:
        return_lent(root.storage, inside=running() is not None)
    whole = alone(x, root, path, v) if key == (Ellipsis,) else None
    if whole is not None and root is not x:
        go_ahead(x, root, path, whole)
        return
    if root.storage.ahead is not None:
        catch_up(root)
    plain = whole is not None and type(root.payload) is ndarray and root.within.leaves_values
    if plain:
        adopt(root, whole)  # nothing is left of what it was
        root.storage.owned = False
    else:
        write(root, path, key, arrays, v)
    root.storage.version += 1  # its views are read again
    TALLY.writes += 1


def alone(x, root, path, v):
    """What x is when v is written into all of it, and a view may go ahead of its root; or None.

    It lies in memory as it did before: that decides which views of it are copies.
    """
    trace = root.within
    if type(v) is not Array or v.within is not trace or x.storage.copies:
        return None
    if trace.eager and (is_leaf(v) or trace.suspended()):
        return None
    if any(step[0].sign for step in path):
        return None
    was, now = raw(x), raw(v)
    if type(was) is not ndarray or type(now) is not ndarray:
        return None
    if was.shape != now.shape or was.dtype != now.dtype:
        return None
    v = snapshot(v)
    if was.strides == now.strides:
        return v
    if v.payload is not now:
        return None
    value = duplicate(was, repeated=False)
    value[...] = now
    return Array(value, v.within, v.node)


WRITERS.append(lambda root, path, v: write(root, path, (Ellipsis,), [], v))


def write(x, path, key, arrays, v):
    """Write into a root."""
    if type(v) is Array:
        v = snapshot(v) if v.storage is not None else v
        refuse_rounding(x, v)
    if x.within.eager and x.within.suspended():
        replace(x, path, key, arrays, v)
        return
    if not x.storage.owned:
        adopt(x, apart(x))
    # Where x comes to another trace, what it was before may have been noted there.
    donate = youngest((v, *arrays)) in (None, CONSTANT) or youngest((x, v, *arrays)) is x.within
    out = setitem_p(x, v, *arrays, path=path, key=key, donate=donate)
    if out.within is not x.within:
        out.within.takes(x)
    adopt(x, out)
    x.storage.owned = True


def replace(x, path, key, arrays, v):
    """Write into an eager Array under `no_grad`: its value changes, and it stays what it is."""
    value = np.copy(x.payload)
    if type(value) is Array:
        value = setitem_p(value, stop(v), *arrays, path=path, key=key, donate=False)
    else:
        value = setitem_p.value(value, peel(v), *map(peel, arrays), path=path, key=key, donate=True)
    x.payload = value if x.shape or type(x.payload) is ndarray else value[()]
    if is_leaf(x):
        x.node.primal = x.payload


def plain_operand(v):
    """A plain value to be assigned; lists may hold Arrays."""
    plain = operand(v)
    return as_array(v) if plain is NotImplemented else plain


def writable(x, path):
    """Raise for what NumPy does not write to, and for leaves outside `no_grad`."""
    if path is None:
        refuse_locked()
    if x.within.eager and not x.within.suspended() and is_leaf(x):
        raise ArgumentError(
            f"An assignment was made into a leaf {spec_of(x)} that requires a gradient.\n"
            "  Write `with pullback.no_grad():` around it to change the leaf, or assign into a copy"
            " (`x.copy()`) to have the assignment differentiated."
        )
    if x.storage is None and not x.within.suspended():
        value = peel(x)
        if not isinstance(value, ndarray):
            raise TypeError(f"'{type(value)}' object does not support item assignment")


def is_leaf(x):
    return not x.node.parents and x.node.rule is None and hasattr(x.node, "grad")


def refuse_rounding(x, v):
    if v.within.live and is_inexact(v.dtype) and not is_inexact(x.dtype):
        raise DtypeError(
            f"An Array {v.within.spec(v)} of `{v.within.name}` was assigned into an array of"
            f" {x.dtype}, which would round it and lose its derivative.\n"
            "  Make the array with `dtype=float`, or round on purpose with `v.astype(int)`."
        )


# NumPy's functions that write into an array.


def in_place(operation):
    """`x += y`: into the array; a NumPy scalar is immutable, and its name is bound anew."""

    def write_result(self, other):
        if type(other) not in KNOWN:
            held = self.within.eager and self.within.suspended()
            if takes_over(self, other) or (is_number(self) and not held):
                return operation(self, other)
            other = numbers_of(other)
            if type(other) is not Array:
                check_written(self, other)
        out = operation(self, other)
        if out is NotImplemented:
            return out
        storage = self.storage
        ahead = storage is not None and storage.ahead is not None and storage.locked is False
        ahead = ahead and type(out) is Array
        if ahead and goes_on_ahead(self, out):
            return self
        if self.within.eager and self.within.suspended():
            return into(self, out)
        return out if is_number(self) else into(self, out)

    return write_result


def into(x, v, casting="same_kind", where=True):
    """x[...] = v, with the check of NumPy's `out=`."""
    if where is True and type(v) is Array and v.dtype == x.dtype and v.shape == x.shape:
        assign(x, (Ellipsis,), [], v)
        return x
    dtype = v.dtype if hasattr(v, "dtype") else np.asarray(v).dtype
    if not np.can_cast(dtype, x.dtype, casting):
        raise DtypeError(
            f"A result of {dtype} cannot be written into an array of {x.dtype} with casting"
            f" {casting!r}.\n  Make the array with `dtype={dtype}`."
        )
    if np.broadcast_shapes(np.shape(v), x.shape) != x.shape:
        raise ShapeError(
            f"A result of shape {np.shape(v)} cannot be written into an array of shape {x.shape}."
        )
    if where is not True:
        v = np.where(where, v, snapshot(x))
    assign(x, (Ellipsis,), [], v)
    return x


def target(x, name):
    """x, if it is an Array: nothing is written into a plain array."""
    if type(x) is not Array:
        raise ArgumentError(
            f"`{name}` was asked to write a traced Array into a plain ndarray, and the derivative"
            " would be lost.\n  Make the array inside the function with `like=x`"
            " (`np.zeros(3, like=x)`)."
        )
    return x


@replaces(np.copyto)
def copyto(dst, src, casting="same_kind", where=True):
    x, src = target(dst, "numpy.copyto"), as_array(src)
    if where is not True:
        where = as_mask(where)
        refuse_selected("numpy.copyto(x, v, where=mask)", x, where, src, copy_where)
    if src.ndim > x.ndim and src.shape[: src.ndim - x.ndim] == (1,) * (src.ndim - x.ndim):
        src = np.reshape(src, src.shape[src.ndim - x.ndim :])
    into(x, src, casting, where)


@replaces(np.place)
def place(arr, mask, vals):
    mask, v = as_array(mask), np.ravel(as_array(vals))
    x = target(arr, "numpy.place")
    if mask.size != x.size:
        raise ValueError("place: mask and data must be the same size")
    if not v.size:
        if somewhere(mask):
            raise ValueError("Cannot insert from an empty array!")
        return
    refuse_selected("numpy.place(x, mask, v)", x, mask, vals, np.place)
    mask = np.reshape(mask, x.shape).astype(bool)
    rank = np.cumsum(np.ravel(mask)) - 1  # which of the places it is
    v = along(v, 0, np.reshape(rank % v.size, x.shape))
    into(x, np.where(mask, v, snapshot(x)), "unsafe")
