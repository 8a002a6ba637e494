"""Which calls may be repeated: the object that is called decides, and nothing is unclassified."""

import builtins
import cmath
import datetime
import functools
import importlib
import io
import itertools
import math
import sys
import time
import types
import warnings
import zlib

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.facts.judge import DENIED, PURE, REFUSED, effectful, may_repeat

X = np.array([0.5, 1.0, 2.0])

# Modules of the standard library of which no function is repeated: they read or change what is
# outside, start threads, keep state, or compute nothing.
NEVER = """
__future__ __hello__ __phello__ _aix_support _android_support _apple_support _asyncio
_bootsubprocess _bz2 _codecs _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr
_codecs_tw _colorize _compat_pickle _compression _contextvars _crypt _csv _ctypes _curses
_curses_panel _datetime _dbm _elementtree _frozen_importlib _frozen_importlib_external
_gdbm _hmac _interpchannels _interpqueues _interpreters _io _ios_support _locale
_lsprof _lzma _markupbase _msi _multibytecodec _multiprocessing _opcode _opcode_metadata
_osx_support _overlapped _pickle _posixshmem _posixsubprocess _py_abc _pydatetime _pydecimal _pyio
_pylong _pyrepl _queue _random _scproxy _signal _sitebuiltins
_socket _sqlite3 _sre _ssl _stat _string _strptime _suggestions _symtable _sysconfig _thread
_threading_local _tkinter _tokenize _tracemalloc _uuid _warnings _weakref _winapi _wmi
_zoneinfo aifc antigravity argparse asynchat asyncio asyncore atexit audioop bdb
binhex bz2 cProfile calendar cgi cgitb chunk cmd code codecs codeop compileall
concurrent configparser contextvars crypt csv ctypes curses dbm difflib dis
distutils doctest email encodings ensurepip errno faulthandler fcntl filecmp fileinput fnmatch
ftplib gc genericpath getopt getpass gettext glob graphlib grp gzip hmac html http
idlelib imaplib imghdr imp io ipaddress lib2to3 linecache locale logging lzma mailbox
mailcap marshal mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt
ntpath nturl2path opcode optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil
platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc
pydoc_data pyexpat queue quopri random readline resource rlcompleter runpy sched secrets select
selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3
sre_compile sre_constants sre_parse ssl stat stringprep subprocess sunau symtable sys sysconfig
syslog tabnanny tarfile telnetlib tempfile termios this threading time timeit tkinter token
tokenize tomllib trace traceback tracemalloc tty turtle turtledemo unittest urllib uu
uuid venv wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile
zipimport zlib zoneinfo
""".split()

# Of NumPy, beside ufuncs, what is dispatched, numbers and exceptions: reviewed, one by one.
NUMPY = """
arange array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asmatrix asnarray
bartlett base_repr binary_repr blackman bmat broadcast broadcast_shapes busdaycalendar datetime_data
diag_indices dtype empty errstate eye finfo flatiter format_float_positional format_float_scientific
frombuffer fromfunction fromiter frompyfunc fromstring full get_printoptions geterr getbufsize
hamming seterr
hanning identity iinfo indices isdtype isfortran isscalar issubdtype iterable kaiser mask_indices
matrix mintypecode narray ndarray ndenumerate ndindex nditer nested_iters ones poly1d promote_types
recarray require row_stack in1d trapz tri tril_indices triu_indices typename ufunc vectorize zeros
fftfreq rfftfreq as_strided Chebyshev Hermite HermiteE Laguerre Legendre Polynomial chararray
compare_chararrays count endswith find index lstrip multiply partition rfind rindex rpartition
rstrip slice startswith strip find_duplicate format_parser fromarrays fromrecords
""".split()
SPACES = """
numpy numpy.linalg numpy.fft numpy.lib.stride_tricks numpy.lib.scimath numpy.polynomial numpy.char
numpy.strings numpy.rec
""".split()
BUILTINS = """
abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict dir divmod
enumerate filter float format frozenset getattr hasattr hash hex int isinstance issubclass iter len
list map max memoryview min next object oct ord pow property range repr reversed round set slice
sorted staticmethod str sum super tuple type zip
""".split()


def test_every_module_of_the_standard_library_is_classified():
    known = {*NEVER, *PURE, "nt", "_imp"}
    unclassified = {name for name in sys.stdlib_module_names if name not in known}
    assert not {name for name in unclassified if not name.startswith("_test")}
    assert not PURE & set(NEVER)


def test_every_builtin_is_classified():
    for name, x in vars(builtins).items():
        if not callable(x) or (isinstance(x, type) and issubclass(x, BaseException)):
            continue
        if name.startswith("_") and name not in DENIED:
            assert name in ("__loader__", "__pybind11_internals__") or "_" in name
            continue
        assert (name in BUILTINS) != (name in DENIED), name
        if isinstance(x, (type, types.BuiltinFunctionType)):
            assert (may_repeat(x) is None) == (name in BUILTINS), name


@pytest.mark.parametrize("space", SPACES)
def test_every_function_of_numpy_is_classified(space):
    dispatched = type(np.sum)
    module = importlib.import_module(space)
    for name in dir(module):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of deprecated names
            x = getattr(module, name, None)
        if name.startswith("_") or not callable(x) or isinstance(x, np.ufunc):
            continue
        if isinstance(x, type) and issubclass(x, (np.generic, BaseException)):
            continue
        if isinstance(x, dispatched):
            assert name not in REFUSED or may_repeat(x) is None or name in REFUSED
            continue
        assert (name in NUMPY) != (name in REFUSED), name


# Of modules that compute, what does more: it asks a clock or a zone, or changes settings.
DOES_MORE = {
    "json": {"load", "dump"},
    "decimal": {"getcontext", "setcontext", "localcontext"},
    "datetime": set(),
    "datetime.datetime": {"now", "today", "utcnow", "fromtimestamp", "timestamp", "astimezone",
                          "strftime", "strptime", "ctime"},
    "datetime.date": {"today", "fromtimestamp", "strftime", "ctime"},
    "datetime.time": {"strftime"},
    "hashlib": {"file_digest"},
    "textwrap": set(),
    "base64": {"main", "test"},
    "binascii": set(),
    "unicodedata": set(),
    "ast": {"dump", "main"},
    "array": set(),
    "colorsys": set(),
}  # fmt: skip


def test_what_modules_that_compute_do_besides():
    for home, more in DOES_MORE.items():
        module, _, owner = home.partition(".")
        space = importlib.import_module(module)
        functions = getattr(space, owner) if owner else space
        names = [name for name in dir(functions) if not name.startswith("_")]
        calls = {name for name in names if callable(getattr(functions, name))}
        found = {name for name in calls if effectful(module, name)}
        assert found == more & calls, home


@pytest.mark.parametrize("module", [math, cmath, itertools])
def test_functions_of_numbers_may_be_repeated(module):
    for name, x in vars(module).items():
        if callable(x) and not name.startswith("_"):
            assert may_repeat(x) is None, name


def test_methods_of_arrays():
    for name, x in vars(np.ndarray).items():
        if isinstance(x, types.MethodDescriptorType):
            assert (may_repeat(x) is None) == (name not in ("tofile", "dump")), name


OTHERS = {
    "time": time.time, "file": io.FileIO, "open": open, "memmap": np.memmap, "print": print,
    "alias": functools.partial(np.memmap).func, "foreign": zlib.adler32, "random": np.random.rand,
    "exec": exec,
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_unknown_or_does_more_is_refused(name):
    assert may_repeat(OTHERS[name]) is not None


def test_the_arguments_may_decide():
    assert may_repeat(np.datetime64, ("2020-01-01",)) is None
    assert may_repeat(np.datetime64, ("NOW",)) is not None
    assert may_repeat(datetime.datetime, (2020, 1, 1)) is None


CLOCKS = {
    "a type": "np.datetime64('now', 'ns')",
    "by map": "list(map(np.datetime64, ['now']))[0]",
    "by another name": "date('now')",
    "an array": "np.array(['now'], 'M8[ns]')[0]",
    "a cast": "np.array(['today']).astype('M8[ns]')[0]",
    "text outside": "np.datetime64(WHEN, 'ns')",
    "texts outside": "WHENS.astype('M8[ns]')[0]",
    "a method": "datetime.datetime.now()",
    "a partial": "functools.partial(np.datetime64, 'now')()",
    "a reduction": "functools.reduce(np.datetime64, ['now', 'ns'])",
    "a comparison": "max(map(np.datetime64, ['now', '2000-01-01']))",
}
# Text that is put together in the call: how, and how dates are made of it.
COMPUTED = ["N + 'ow'", "''.join([N, 'ow'])", "f'{N}ow'", "'NOT'.lower().replace('t', 'w')",
            "f'{N}ow'.encode()", "np.str_(N + 'ow')"]  # fmt: skip
DATED = {
    "a type": "np.datetime64({}, 'ns')",
    "by map": "list(map(np.datetime64, [{}]))[0]",
    "a partial": "functools.partial(np.datetime64, {})()",
    "a type found by its name": "getattr(np, 'date' + 'time64')({})",
    "the type of a dtype": "DTYPE.type({})",
    "an array": "np.array([{}], 'M8[ns]')[0]",
    "a number": "np.asarray({}, dtype='datetime64[s]')[()]",
    "a cast": "np.array([{}]).astype('<M8[ns]')[0]",
    "a dtype outside": "np.array([{}]).astype(DTYPE)[0]",
    "its name outside": "np.array([{}]).astype(NAME)[0]",
    "filled": "np.full(1, {}, dtype='M8[s]')[0]",
    "inserted": "np.insert(np.zeros(1, 'M8[s]'), 0, {})[0]",
    "a record": "np.array([({},)], dtype=[('t', 'M8[us]')])['t'][0]",
}
CLOCKS |= {
    f"{name}, {text}": how.replace("{}", text) for name, how in DATED.items() for text in COMPUTED
}


@pytest.mark.parametrize("name", CLOCKS)
def test_no_clock_is_repeated(name):
    scope = {"np": np, "datetime": datetime, "date": np.datetime64, "functools": functools}
    scope |= {"WHEN": "Now", "WHENS": np.array(["2000-01-01", "now"])}
    scope |= {"N": "n", "NAME": "M8[s]", "DTYPE": np.dtype("M8[ms]")}
    exec(f"def f(x):\n    SEEN.append(str({CLOCKS[name]}))\n    return x * 2.0", scope)
    scope["SEEN"] = []
    fast = pb.compile(scope["f"])
    with pytest.warns(RuntimeWarning, match="it (may )?calls? `|makes dates by the dtype"):
        fast(X)
    for _ in range(3):
        fast(X)
    assert fast.refusal is not None
    assert len(scope["SEEN"]) == 4


class TestPure:
    def test_a_declared_function_is_repeated(self, monkeypatch):
        calls = zlib.adler32
        scope = {"adler": calls, "data": b"data"}
        exec("def f(x):\n    return x * float(adler(data) % 7)", scope)
        expected = X * float(zlib.adler32(b"data") % 7)
        refused = pb.compile(scope["f"])
        with pytest.warns(RuntimeWarning, match=r"zlib\.adler32"):
            out = refused(X)
        np.testing.assert_array_equal(out, expected)
        from pullback.compiler.facts import judge

        monkeypatch.setattr(judge, "DECLARED", dict(judge.DECLARED))
        assert pb.pure(calls) is calls
        fast = pb.compile(scope["f"])
        for _ in range(6):
            np.testing.assert_array_equal(fast(X), expected)
        assert fast.cache_info().hits == 5
        scope["data"] = b"other"
        np.testing.assert_array_equal(fast(X), scope["f"](X))

    def test_it_takes_functions(self):
        with pytest.raises(pb.ArgumentTypeError, match="`pure` takes a function, but got"):
            pb.pure(3.0)


class TestBuffers:
    """Text that is collected in the call itself; a buffer that outlives it is not read."""

    def test_a_buffer_of_the_call(self):
        def f(x):
            text = io.StringIO()
            text.write("four")
            return x * len(text.getvalue()) + io.BytesIO(b"ab").getvalue()[0]

        compiled = settled(pb.compile(pb.grad(f)), 2.0)
        assert compiled(3.0) == 4.0
        assert compiled.why(2.0) == "Machine code would replay it."

    @pytest.mark.filterwarnings("ignore:.*falls back to Python")
    def test_a_buffer_from_outside(self):
        text, kept = io.StringIO(), []

        def writes(x):
            text.write("a")
            return x * x

        def keeps(x):
            kept.append(io.StringIO())
            kept[-1].write("a")
            return x * x

        for f in (writes, keeps):
            compiled = pb.compile(pb.grad(f))
            assert all(compiled(2.0) == 4.0 for _ in range(50))
        assert text.getvalue() == "a" * 50
        assert len(set(map(id, kept))) == 50
        assert {each.getvalue() for each in kept} == {"a"}


def test_the_functions_beneath_distributions_are_repeated():
    stats = pytest.importorskip("scipy.stats")
    compiled = settled(pb.compile(pb.grad(lambda x: stats.norm._cdf(x) + stats.t._sf(x, 4.0))), 0.3)
    assert compiled.why(0.3) == "Machine code would replay it."
    np.testing.assert_allclose(compiled(0.5), stats.norm.pdf(0.5) - stats.t.pdf(0.5, 4.0))


def settled(compiled, x):
    """Calls until a record stands."""
    for _ in range(2000):
        compiled(x)
        if compiled.why(x) == "Machine code would replay it.":
            break
    return compiled


def test_functions_of_arrays():
    """Of these modules of SciPy's every public function computes, and nothing else."""
    wrong = []
    for name in ("signal", "ndimage", "linalg", "interpolate", "spatial", "spatial.distance"):
        module = importlib.import_module(f"scipy.{name}")
        for each in module.__all__:
            function = getattr(module, each)
            if isinstance(function, types.FunctionType) and effectful(function.__module__, each):
                wrong.append((name, each))
    assert not wrong
