"""LLVM through llvmlite: the only module that imports it.

A module of LLVM's language comes in as text and goes out as addresses of functions. The same text
at the same level is compiled once and shared while anyone holds it; `cache` keeps what was made for
later processes. So no text may hold an address: `add_symbol` gives it a name.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import weakref
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import cache
from typing import Any

from ..core.ending import leaving, rest
from ..core.errors import MissingExtraError
from . import cache as disk

__all__ = [
    "COUNTS",
    "SCALAR",
    "WORKER",
    "Code",
    "absent",
    "assembly",
    "binding",
    "bits",
    "compiled",
    "exported",
    "features",
    "known",
    "prefixes",
    "processor",
]

LOCK = threading.RLock()  # LLVM is entered by one thread at a time
BEST = 3  # the highest level
RECIPE = "1"  # raised when the same text is to be compiled in another way
# Whether the C library is all that may be called, and no addresses of this process.
SCALAR: ContextVar[bool] = ContextVar("SCALAR", default=False)
COUNTS: Counter[str] = Counter()  # modules that were "compiled", and those "found" on disk


def absent() -> MissingExtraError:
    return MissingExtraError(
        "`pullback.compile` makes machine code with llvmlite, which is not installed.\n"
        "  Install it with `pip install 'pullback[compile]'`."
    )


@cache
def binding() -> Any:
    with LOCK:  # the import as well: a process that forks waits for it
        try:
            import llvmlite.binding as llvm
        except ImportError as error:
            raise absent() from error
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        for name in ("libm.so.6", "libmvec.so.1"):
            with suppress(RuntimeError):  # other systems have theirs in the process
                llvm.load_library_permanently(name)
    return llvm


@cache
def known(symbol: str) -> bool:
    """Whether a function of that name can be called: LLVM ends the process at one that is not."""
    return binding().address_of_symbol(symbol) is not None


@cache
def features() -> dict[str, bool]:
    return dict(binding().get_host_cpu_features())


@cache
def bits() -> int:
    """The width of a vector register of this processor."""
    found = features()
    return 512 if found.get("avx512f") else 256 if found.get("avx2") else 128


@cache
def prefixes() -> dict[int, str]:
    """How libmvec calls its functions, by the bits of a vector."""
    triple = binding().get_default_triple()
    if triple.startswith("x86_64"):
        names = {128: "_ZGVb", 256: "_ZGVd", 512: "_ZGVe"}
        return {width: name for width, name in names.items() if width <= bits()}
    return {128: "_ZGVn"} if triple.startswith(("aarch64", "arm64")) else {}


def machine(level: int) -> Any:
    llvm = binding()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        jit=True,
    )


@cache
def circumstances() -> tuple[str, ...]:
    """What decides about machine code beside its text and level."""
    import llvmlite

    llvm, own = binding(), sys.modules[__name__.partition(".")[0]].__version__
    versions = [own, llvmlite.__version__, ".".join(map(str, llvm.llvm_version_info))]
    python = [sys.implementation.name, sys.version]
    processor = [llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
    return RECIPE, *versions, *python, llvm.get_default_triple(), *processor


def key(text: str, level: int) -> str:
    return disk.key_of(text, str(level), *circumstances())


class Code:
    """Machine code of one module. It lives as long as this object."""

    def __init__(self, text: str, level: int, content: bytes) -> None:
        llvm = binding()
        with LOCK:
            self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine(level))
            self.engine.add_object_file(llvm.ObjectFileRef.from_data(content))
            self.engine.finalize_object()
        self.text, self.level = text, level

    def address(self, name: str) -> int:
        return int(self.engine.get_function_address(name))

    def function(self, name: str, arguments: int, release: bool = False) -> Any:
        """A function of pointers, to be called from Python; `release` lets other threads run."""
        kind = ctypes.CFUNCTYPE if release else ctypes.PYFUNCTYPE
        call = kind(None, *[ctypes.c_void_p] * arguments)(self.address(name))
        call.code = self  # type: ignore[attr-defined]
        return call


def object_file(text: str, level: int) -> bytes:
    """The object file of a module."""
    with LOCK:
        module, target = binding().parse_assembly(text), machine(level)
        if level:
            optimise(module, target, level)
        COUNTS["compiled"] += 1
        return bytes(target.emit_object(module))


def exported(text: str, symbol: str, parts: Sequence[str]) -> bytes:
    """The object file of a module and of others that it uses, in which one function is seen."""
    llvm = binding()
    with LOCK:
        module = llvm.parse_assembly(text)
        for part in parts:
            module.link_in(llvm.parse_assembly(part))
        for function in module.functions:
            if not function.is_declaration and function.name != symbol:
                function.linkage = llvm.Linkage.internal
        target = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(),
            features=llvm.get_host_cpu_features().flatten(),
            opt=BEST,
            reloc="pic",
            codemodel="default",
        )
        optimise(module, target, BEST)
        return bytes(target.emit_object(module))


def processor() -> str:
    return str(binding().get_host_cpu_name())


def optimise(module: Any, target: Any, level: int) -> None:
    llvm = binding()
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)


def assembly(text: str, level: int) -> str:
    """The processor's instructions for a module, to read."""
    with LOCK:
        module = binding().parse_assembly(text)
        if level:
            optimise(module, machine(level), level)
        return str(machine(level).emit_assembly(module))


class Worker:
    """A thread that does jobs in turn, and lives as long as there are any.

    The interpreter waits for it before it ends, or LLVM would be taken down while it works. What
    has not begun by then is left.
    """

    def __init__(self) -> None:
        self.jobs: deque[Callable[[], object]] = deque()
        self.thread: threading.Thread | None = None
        self.lock = threading.Lock()

    def do(self, job: Callable[[], object]) -> None:
        with self.lock:
            self.jobs.append(job)
            if self.thread is None or not self.thread.is_alive():
                self.thread = threading.Thread(target=self.work, name="pullback-compiler")
                with suppress(RuntimeError):  # the interpreter is ending
                    self.thread.start()

    def work(self) -> None:
        while threading.main_thread().is_alive():
            with self.lock:
                if not self.jobs:
                    self.thread = None
                    return
                job = self.jobs.popleft()
            job()

    def forked(self) -> None:
        self.__init__()  # type: ignore[misc]


WORKER = Worker()
HELD: list[Any] = []  # llvmlite's own lock, while a process forks


def before_fork() -> None:
    """Wait until no thread is in LLVM: in the child nobody would ever give back its locks.

    What llvmlite frees for other threads happens under its lock alone.
    """
    LOCK.acquire()
    lock = getattr(getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None), "_lock", None)
    if lock is not None:
        lock.__enter__()
    HELD.append(lock)


def leave() -> None:
    """Wait until no thread is in LLVM, which the end of the process takes down."""
    before_fork()
    after_fork()


leaving(leave)


def after_fork() -> None:
    lock = HELD.pop()
    if lock is not None:
        lock.__exit__(None, None, None)
    LOCK.release()


def after_fork_in_child() -> None:
    WORKER.forked()
    after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=before_fork, after_in_parent=after_fork, after_in_child=after_fork_in_child
    )

SHARED: weakref.WeakValueDictionary[tuple[str, int], Code] = weakref.WeakValueDictionary()


def compiled(text: str, level: int) -> Code:
    """The machine code of a module at an optimisation level from 0 to 3, or better if at hand."""
    rest()
    with LOCK:
        levels = sorted({BEST, level}, reverse=True)
        for at in levels:
            code = SHARED.get((text, at))
            if code is not None:
                return code
        code = None if disk.folder() is None else found(text, levels)
        if code is None:
            content = object_file(text, level)
            code = Code(text, level, content)
            if disk.folder() is not None and disk.write(key(text, level), content):
                WORKER.do(disk.evict)
        SHARED[text, code.level] = code
        return code


def found(text: str, levels: list[int]) -> Code | None:
    """The machine code that an earlier process made."""
    for level in levels:
        content = disk.read(key(text, level))
        if content is not None:
            COUNTS["found"] += 1
            return Code(text, level, content)
    return None
