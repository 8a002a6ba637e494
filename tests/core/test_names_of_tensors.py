"""Installed packages ask `hasattr(x, "detach")` to tell tensors of other libraries from arrays."""

import importlib

import numpy as np
import pytest

import pullback as pb
from pullback.core.array import Array

SOURCE = '''
import numpy as np

def plain(x):
    """The values of a tensor, as packages take them that know PyTorch and TensorFlow."""
    for name in NAMES:
        if hasattr(x, name):
            x = x.detach().numpy()
        if getattr(x, name, None) is not None:
            x = x.numpy()
    return np.asarray(x)

def energy(x):
    return np.sum(plain(x) ** 2)
'''
PLAIN = {*dir(np.ndarray), *dir(np.float64)}
OURS = sorted(name for name in set(dir(Array)) - PLAIN if not name.startswith("__"))


@pytest.fixture(params=["", "import pullback", "from pullback import grad"])
def package(request, tmp_path, monkeypatch):
    """The functions in an installed package, which uses pullback or does not."""
    name = f"tensors_{len(request.param)}"
    folder = tmp_path / "site-packages" / name
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(f"{request.param}\nNAMES = {OURS}\n{SOURCE}")
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    return importlib.import_module(name), bool(request.param)


@pytest.mark.parametrize("x", [np.array([1.0, 2.0]), 3.0])
def test_packages_see_an_array(package, x):
    module, knows = package
    if knows:  # it sees the names that it may use, `numpy` among them, and takes the values
        slope = pb.grad(lambda x: module.energy(x) + np.sum(x))(x)
        np.testing.assert_array_equal(slope, np.ones_like(x))
        return
    np.testing.assert_array_equal(pb.grad(module.energy)(x), 2 * x)
    np.testing.assert_array_equal(pb.compile(pb.grad(module.energy))(x), 2 * x)


def test_users_see_an_array_of_pullback():
    def f(x):
        assert all(hasattr(x, name) for name in ("detach", "backward", "numpy"))
        assert getattr(x, "requires_grad", None) is not None
        return x**2

    assert pb.grad(f)(3.0) == 6.0
