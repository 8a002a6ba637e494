"""What people type who know another library: it works, or one sentence says what to write here.

All code in the sentences is pasted and run.
"""

import inspect
import re
import sys

import numpy as np
import pytest

import pullback as pb
from pullback.core.names_elsewhere import ATTRIBUTES, KEYWORDS, NAMES, RENAMED
from pullback.core.other_names import OTHERS

# What is asked of the module: `pb.name`, and imported from it.
TYPED = {
    "autograd": """
        checkpoint defgrad defjvp defvjp defvjp_argnums deriv elementwise_grad extend grad
        grad_and_aux grad_named hessian hessian_tensor_product hessian_vector_product
        holomorphic_grad isinstance jacobian make_ggnvp make_hvp make_jvp make_jvp_reversemode
        make_vjp misc multigrad multigrad_dict numpy primitive scipy tensor_jacobian_product
        test_util value_and_grad vector_jacobian_product""",
    "JAX": """
        Array PRNGKey ShapeDtypeStruct block_until_ready clear_caches closure_convert cond config
        custom_gradient custom_jvp custom_vjp debug debug_nans default_backend device_get
        device_put devices disable_jit dtypes effects_barrier enable_x64 ensure_compile_time_eval
        eval_shape experimental export fori_loop jacfwd jacrev jax2tf jit jnp jvp key lax
        linear_transpose linearize live_arrays local_device_count make_jaxpr map named_call nn ops
        pjit pmap print pure_callback random remat scan select split stop_gradient switch tree
        tree_flatten tree_leaves tree_map tree_unflatten tree_util typing vjp vmap while_loop
        xla_computation""",
    "PyTorch": """
        Adam Function Module Parameter SGD Tensor Variable abs arange as_tensor autograd backward
        bmm cat clamp compile cos cross_entropy cuda detach device distributions double einsum
        enable_grad exp eye fft float32 float64 from_numpy func functional gradcheck
        inference_mode is_grad_enabled is_tensor linalg linspace load log manual_seed matmul max
        maximum mean mm no_grad norm numel ones optim pow rand randn relu save
        set_default_dtype set_grad_enabled sigmoid sin softmax special sqrt squeeze stack sum tanh
        tensor unsqueeze utils where zeros zeros_like""",
    "micrograd and tinygrad": "Device Layer MLP Neuron TinyJit Value draw_dot engine trace",
    "TensorFlow": """
        GradientTape cast constant convert_to_tensor function gradients hessians identity keras math
        reduce_mean reduce_sum""",
    "CasADi": """
        DM MX SX gradient horzcat integrator jtimes mtimes nlpsol rootfinder substitute sumsqr
        symvar vertcat""",
    "SymPy": "Matrix Rational Symbol diff integrate lambdify pi series simplify symbols",
    "numdifftools and SciPy": """
        Derivative Gradient Hessdiag Hessian Jacobian approx_derivative approx_fprime check_grad
        derivative directionaldiff minimize odeint optimize root solve_ivp""",
    "a slip": """
        Compile Grad checkpiont elementwisegrad explian gard gradd hesian jacobain nograd
        stopgradient valueandgrad value_and_gradient vjpp""",
}
# What is asked of an Array: `x.name`.
ASKED = """
    H T _backward _op _prev _value abs add add_ addressable_data adjoint all allclose any argmax
    argsort as_in_context asnumpy assign astype at aval bernoulli block_until_ready bmm bool cat
    children cholesky chunk clamp clamp_ clamp_min clip clone conj contiguous copy copy_
    cosine_similarity cos cpu cross ctypes cuda cumsum data_ptr det detach detach_ device
    device_buffer diag diff digamma dim div div_ doit dot double dtype einsum element_size eq equal
    erf erfc eval evalf exp expand expand_as expm1 fill_ flatten flip float floor free_symbols
    gather ge get grad grad_fn gt half head iloc imag index_add index_fill index_select int inverse
    is_contiguous is_cuda is_leaf is_sparse isfinite isnan item itemsize label layout lazydata le
    lerp lgamma loc log log1p log_softmax logdet logsumexp long lt mT masked_fill masked_select
    matmul max mean min mm mul mul_ multinomial mv nbytes ndim ndimension ne neg nelement new_ones
    new_tensor new_zeros nonzero norm normal_ numel numpy outer permute pin_memory pinverse pow
    primal prod qr real realize register_hook relu repeat repeat_interleave requires_grad
    requires_grad_ reshape retain_graph roll round rsqrt scatter scatter_add shape share_memory_
    sigmoid sign simplify sin size softmax solve sort split sqrt square squeeze stack std strides
    sub sub_ subs sum svd swapaxes t take tan tangent tanh tile to to_numpy toarray tocsr tolist
    topk trace transpose tril triu type unbind unfold uniform_ unique unsqueeze untyped_storage val
    value values var view weak_type where zero_ zero_grad
"""
SETUP = """
import fractions, math, optree
import numpy as np, scipy, scipy.integrate, scipy.interpolate, scipy.optimize, scipy.sparse
import scipy.special, scipy.stats
import pullback

f = lambda x: (x * x).sum()
g = lambda x: (f(x), x)
h = lambda x, y: f(x) + f(y)
forward = lambda x: (f(x), x)
backward = lambda x, out_bar: (2 * x * out_bar,)
e = np.array([0.5, 1.5, 2.5])
z = np.array(1.0 + 1.0j)
y, v = e + 1.0, e.copy()
grid = np.arange(3.0)
A = np.diag(e)
mask, index, value, low, high, shape, axes = y > 2, np.arange(3), 1.0, 0, 1, (3,), (0,)
axis, n, i = 0, 1, 0
"""


PYTHONS = {"if", "for", "while"}  # words of Python's that are no code by themselves


FUNCTIONS = {
    **{name: getattr(pb, name) for name in pb.__all__ if inspect.isfunction(getattr(pb, name))},
    "explain": pb.explain.explain,
    **{name: getattr(pb.nn, name) for name in pb.nn.__all__},
    "check_grads": pb.testing.check_grads,
}
PARAMETERS = {name for f in FUNCTIONS.values() for name in inspect.signature(f).parameters}
# What plain arrays do not have.
OF_ARRAYS = r"x\.(numpy|requires_grad|detach)\b"


def pasted_cure(message, plain=True):
    """Run the code of the sentence that says what to write; give the sentence before it."""
    first, _, cure = str(message).partition("\n")
    assert cure.startswith(("  Write `", "  Instead, ")), message
    assert cure.endswith("."), message
    code = "\n".join(part for part in re.findall(r"`([^`]*)`", cure) if part not in PYTHONS)
    scope = dict.fromkeys(PARAMETERS)
    exec(SETUP, scope)
    leaf = pb.array(scope["e"], requires_grad=True)
    scope["x"] = (
        scope["e"].copy()
        if "pullback.array(x" in code or (plain and not re.search(OF_ARRAYS, code))
        else 1.0 * leaf
    )
    if ".backward(" in code:
        scope["y"] = pb.array(2.0, requires_grad=True) ** 2
    exec(code, scope)
    return first


NAMED = {library: names.split() for library, names in TYPED.items()}


def test_there_are_many():
    names = {name for names in NAMED.values() for name in names}
    assert len(names) + len(ASKED.split()) >= 400
    assert {*NAMES} & {*pb.__all__} == set()


@pytest.mark.parametrize("library", NAMED)
def test_a_name_of_the_module(library):
    for name in NAMED[library]:
        if not hasattr(pb, name):
            with pytest.raises(pb.UnknownNameError) as caught:
                getattr(pb, name)
            assert f"`pullback.{name}`" in pasted_cure(caught.value)
            with pytest.raises(pb.UnknownImportError) as caught:
                exec(f"from pullback import {name}")
            assert pasted_cure(caught.value)
            assert isinstance(caught.value, ImportError)


def test_a_name_that_nobody_has_is_pythons():
    with pytest.raises(AttributeError, match="no attribute 'quux'"):
        pb.quux  # noqa: B018  # asking is the test
    with pytest.raises(ImportError, match="cannot import name 'quux'"):
        exec("from pullback import quux")


def test_every_entry_for_the_module():
    for name in NAMES:
        if f"pullback.{name}" in sys.modules:  # one of ours by that name, loaded by now
            continue
        with pytest.raises(pb.UnknownNameError) as caught:
            getattr(pb, name)
        pasted_cure(caught.value)


@pytest.mark.parametrize("names", [ASKED.split(), [*ATTRIBUTES]], ids=["asked", "entered"])
def test_a_name_of_an_array(names):
    x = 1.0 * pb.array(np.array([0.5, 1.5, 2.5]), requires_grad=True)
    y = pb.array(np.eye(3), requires_grad=True)
    for name in names:
        if name == "_value" and "pullback.autograd" in sys.modules:  # which puts it there
            continue
        each = y if name == "mT" else x
        if name in ATTRIBUTES:
            assert name in OTHERS, f"{name} has an entry, though Array has it"
        if name in OTHERS:
            with pytest.raises(pb.UnknownNameError) as caught:
                getattr(each, name)
            assert f"`x.{name}`" in str(caught.value)
            if name in ATTRIBUTES:
                pasted_cure(caught.value, plain=False)
            assert not hasattr(each, name)
            assert name not in dir(each)
        else:
            getattr(each, name)


def test_functions_of_numpy_are_called_as_they_ask():
    x = pb.array(np.ones(3))
    for name in OTHERS - {*ATTRIBUTES}:
        try:
            getattr(x, name)
        except pb.UnknownNameError as error:
            path, names = re.search(r"Write `np\.([\w.]*)\((.*)\)`\.$", str(error)).groups()
            function = np
            for part in path.split("."):
                function = getattr(function, part)
            if isinstance(function, np.ufunc):
                assert len(names.split(",")) == function.nin
            else:
                inspect.signature(function).bind(*names.split(", "))
        except AttributeError:  # of what takes no array first
            assert name not in ASKED.split()


def arguments_of(function):
    """One argument for each parameter that has no default."""
    parameters = inspect.signature(function).parameters.values()
    required = [p for p in parameters if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
    return [lambda x: x] * len(required)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_unknown_keyword(name):
    function = FUNCTIONS[name]
    arguments = arguments_of(function)
    parameters = inspect.signature(function).parameters
    known = [
        p.name for p in parameters.values() if p.kind > p.POSITIONAL_ONLY and p.default != p.empty
    ]
    for given in [*KEYWORDS, *RENAMED, "quux", *(f"{each}_" for each in known)]:
        if given in parameters:
            continue
        with pytest.raises(pb.ArgumentTypeError) as caught:
            function(*arguments, **{given: 1})
        assert isinstance(caught.value, TypeError)
        assert f"`{name}` was called with `{given}=1`" in pasted_cure(caught.value)
        if given[:-1] in known:
            assert f"`{given[:-1]}=1`" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "cure"),
    [
        ("grad(f, argnum=1)", "argnums=1"),
        ("grad(f, has_auxx=True)", "has_aux=True"),
        ("vmap(f, in_dims=(0, None))", "in_axes=(0, None)"),
        ("vmap(f, out_dims=1)", "out_axes=1"),
        ("jacobian(f, argnum=0)", "argnums=0"),
        ("compile(f, static_args=(1,))", "static_argnums=(1,)"),
        ("array(1.0, require_grad=True)", "requires_grad=True"),
        ("nn.log_softmax(f, dim=1)", "axis=1"),
        ("array(np.ones((2, 2))).sum(dim=1)", "axis=1"),
        ("array(np.ones((2, 2))).max(axis=0, keepdim=True)", "keepdims=True"),
        ("array(np.ones((2, 2))).std(dim=1)", "axis=1"),
        ("array(np.ones(2)).argmax(dim=0)", "axis=0"),
        ("array(np.ones(2)).std(unbiased=True)", "ddof=1"),
        ("array(1.0, requires_grad=True).backward(retain=True)", "retain_graph=True"),
    ],
)
def test_a_keyword_that_is_called_otherwise_here(call, cure):
    with pytest.raises(pb.ArgumentTypeError, match="has no such keyword") as caught:
        eval(f"pb.{call}", {"pb": pb, "np": np, "f": lambda x: x})
    assert f"Write `{cure}`" in str(caught.value)


OPTIONS_OF_COMPILE = "backend dynamic fullgraph mode options inline nopython cache parallel"


def test_options_of_other_compilers():
    for name in OPTIONS_OF_COMPILE.split():
        with pytest.raises(pb.ArgumentTypeError, match="compile") as caught:
            pb.compile(np.sin, **{name: 1})
        assert "leave it out" in str(caught.value), name


def test_layers():
    for name in ("Conv2d", "LSTM", "BatchNorm1d", "Embedding"):
        with pytest.raises(pb.UnknownNameError, match="parameters are arrays"):
            getattr(pb.nn, name)


# What people who know `torch.autograd` ask of the package that has the interface of another.
TORCHS = """
    Function Variable backward detect_anomaly enable_grad functional gradcheck gradgradcheck
    inference_mode no_grad set_detect_anomaly set_grad_enabled
"""


class TestAutograd:
    """`pullback.autograd` has the names of the library autograd, and not those of PyTorch's."""

    @pytest.mark.parametrize("name", TORCHS.split())
    def test_names(self, name):
        assert not hasattr(pb.autograd, name)
        with pytest.raises(pb.UnknownNameError) as caught:
            getattr(pb.autograd, name)
        assert f"`pullback.autograd.{name}`" in pasted_cure(caught.value)
        with pytest.raises(pb.UnknownImportError):
            exec(f"from pullback.autograd import {name}")

    def test_submodules(self):
        for name in ("numpy", "scipy", "misc", "extend", "test_util"):
            assert getattr(pb.autograd, name).__name__ == f"pullback.autograd.{name}"

    def test_an_output_and_an_input(self):
        x = pb.array([1.0, 2.0], requires_grad=True)
        with pytest.raises(pb.ArgumentTypeError, match="`grad` takes a function, but got an Array"):
            pb.autograd.grad(x.sum(), x)


APART = "grad value_and_grad jacobian hessian hvp vmap elementwise_grad explain compile checkpoint"


@pytest.mark.parametrize("verb", APART.split())
@pytest.mark.parametrize("x", [2.0, np.ones(2), [1.0, 2.0], (1.0, 2.0), {"a": 1.0}], ids=repr)
def test_arguments_in_the_wrong_call(verb, x):
    """`grad(f, x)` for `grad(f)(x)`."""
    with pytest.raises(pb.ArgumentTypeError, match="arguments come in a call of their own") as why:
        getattr(pb, verb)(np.sin, x)
    assert f"{verb}(f)(x" in str(why.value)
