"""LLVM through llvmlite: the only module that imports it.

Enters: an LLVM module as text. Leaves: the addresses of its functions. The same text at the same
optimisation level is compiled once and shared while anyone holds it. `disk_cache` keeps machine
code for later processes, which don't need LLVM if `object_loader` can load it. So no text may
contain an address: `symbols` gives it a name.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import Any

from ...core.errors import MissingExtraError
from ...core.shutdown import leaving, rest
from ...core.temporary import acquired
from . import cpu, symbols
from . import disk_cache as disk
from .object_loader import Image, Unlinkable, serves

LOCK = threading.RLock()  # LLVM is entered by one thread at a time
BEST = 3  # the highest level


def at_leisure() -> AbstractContextManager[bool]:
    """Keep other threads out of LLVM if none is in there; give whether that is so."""
    return acquired(LOCK, waits=False)


SEEN = "pullback.exported"  # in a text, the function that an object file shows
LONG = 100_000  # characters: about a thousand operations on numbers
RECIPE = "2"  # raised when the same text is to be compiled in another way
# Whether the C library is all that may be called, and no addresses of this process.
SCALAR: ContextVar[bool] = ContextVar("SCALAR", default=False)
COUNTS: Counter[str] = Counter()  # modules that were "compiled", and those "found" on disk


def absent() -> MissingExtraError:
    return MissingExtraError(
        "`pullback.compile` makes machine code with llvmlite, which is not installed.\n"
        "  Install it with `pip install llvmlite`."
    )


def refuse_old(llvm: Any) -> None:
    """Raise for a release of llvmlite that can't read our text, where pointers have no types."""
    try:
        llvm.parse_assembly("declare void @takes(ptr)")
    except RuntimeError as error:
        raise MissingExtraError(
            "`pullback.compile` makes machine code with llvmlite 0.45 or newer, but an older one is"
            " installed.\n  Install a newer one with `pip install --upgrade llvmlite`."
        ) from error


@cache
def binding() -> Any:
    with LOCK:  # the import as well: a process that forks waits for it
        try:
            import llvmlite.binding as llvm
        except ImportError as error:
            raise absent() from error
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        refuse_old(llvm)
        for name in symbols.LIBRARIES:
            with suppress(RuntimeError):
                llvm.load_library_permanently(name)
        for name, at in list(symbols.ADDED.items()):
            llvm.add_symbol(name, at)
    return llvm


def add_symbol(name: str, at: int | None) -> None:
    """Let machine code call what is at an address of this process by name."""
    with LOCK:
        symbols.add(name, int(at or 0))
        if binding.cache_info().currsize:
            binding().add_symbol(name, int(at or 0))


def known(symbol: str) -> bool:
    """Whether a function of that name can be called: LLVM ends the process at one that is not."""
    return symbols.address(symbol) is not None


@cache
def features() -> frozenset[str]:
    """What the processor can do, by LLVM's names."""
    told = cpu.told()
    if told is not None:
        return told[1]
    return frozenset([k for k, has in binding().get_host_cpu_features().items() if has])


@cache
def bits() -> int:
    """The width of a vector register of this processor."""
    found = features()
    return 512 if "avx512f" in found else 256 if "avx2" in found else 128


@cache
def prefixes() -> dict[int, str]:
    """How libmvec calls its functions, by the bits of a vector."""
    if cpu.is_x86():
        names = {128: "_ZGVb", 256: "_ZGVd", 512: "_ZGVe"}
        return {width: name for width, name in names.items() if width <= bits()}
    return {128: "_ZGVn"} if cpu.is_arm() else {}


def machine(level: int) -> Any:
    """What makes machine code at a level. An engine takes it over, and needs one of its own."""
    llvm = binding()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        jit=True,
    )


@cache
def shared_machine(level: int) -> Any:
    """The one that makes object files: making it takes longer than many a module does."""
    return machine(level)


def circumstances() -> tuple[str, ...]:
    """What decides about machine code beside its text and level."""
    import llvmlite

    own = sys.modules[__name__.partition(".")[0]].__version__
    python = [sys.implementation.name, sys.version]
    told = cpu.told()
    if told is None:
        llvm = binding()
        system = [llvm.get_default_triple(), llvm.get_host_cpu_name()]
        system.append(llvm.get_host_cpu_features().flatten())
    else:
        system = [sys.platform, told[0], *sorted(told[1])]
    return RECIPE, own, llvmlite.__version__, library(llvmlite.__file__), *python, *system


def library(file: str) -> str:
    """What tells LLVM from other builds of it, without loading it."""
    try:
        with os.scandir(os.path.join(os.path.dirname(file), "binding")) as found:
            built = [x for x in found if "llvmlite" in x.name and not x.name.endswith(".py")]
            return ", ".join(
                sorted([f"{x.name}: {x.stat().st_size}, {x.stat().st_mtime_ns}" for x in built])
            )
    except OSError:  # it lies in an archive, say
        return ".".join(map(str, binding().llvm_version_info))


@cache
def surroundings() -> str:
    """All circumstances as one text: there are some two hundred, and each module asks."""
    return disk.key_of(*circumstances())


def key(text: str, level: int) -> str:
    return disk.key_of(text, str(level), surroundings())


class MachineCode:
    """Machine code of one module. It lives as long as this object."""

    def __init__(self, text: str, level: int, content: bytes) -> None:
        self.text, self.level = text, level
        if serves():
            with suppress(Unlinkable):
                self.image = Image(content, symbols.address)
                self.address = self.image.address
                return
        llvm = binding()
        with LOCK:
            self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine(level))
            self.engine.add_object_file(llvm.ObjectFileRef.from_data(content))
            self.engine.finalize_object()
        self.address = self.engine.get_function_address

    def function(self, name: str, arguments: int, release: bool = False) -> Any:
        """A function of pointers, to be called from Python; `release` lets other threads run."""
        kind = ctypes.CFUNCTYPE if release else ctypes.PYFUNCTYPE
        call: Any = kind(None, *[ctypes.c_void_p] * arguments)(self.address(name))
        call.code = self
        return call


def is_unbranched(text: str) -> bool:
    """Whether a module is long and never branches, so that LLVM's passes are not worth their time.

    That is half of all, and they find nothing that the passes over the graph have left.
    """
    return len(text) > LONG and " br " not in text


@contextmanager
def parsed(text: str, parts: Sequence[str] = ()) -> Iterator[Any]:
    """A module of LLVM, with others linked into it, for a time.

    It has a context of its own: numbers, types and scopes that a module speaks of lie in its
    context, and LLVM frees them with the context alone. In the one that all share, each module of
    new shapes would leave hundreds of bytes.
    """
    llvm = binding()
    with (
        LOCK,
        closing(llvm.create_context()) as context,
        closing(llvm.parse_assembly(text, context)) as module,  # closed before its context
    ):
        for part in parts:
            module.link_in(llvm.parse_assembly(part, context))
        yield module


def object_file(text: str, level: int) -> bytes:
    """The object file of a module."""
    with parsed(text) as module:
        target = shared_machine(level)
        if level and not is_unbranched(text):
            optimise(module, target, level)
        COUNTS["compiled"] += 1
        return bytes(target.emit_object(module))


def exported(text: str, symbol: str, parts: Sequence[str]) -> bytes:
    """The object file of a module and of others that it uses, in which one function is seen.

    The module calls that function `SEEN`; nothing else in it keeps the name `symbol`.
    """
    llvm = binding()
    with parsed(text, parts) as module:
        for thing in [*module.functions, *module.global_variables]:
            if not thing.is_declaration and thing.name != SEEN:
                thing.linkage = llvm.Linkage.internal
            if thing.name == symbol:
                thing.name = f"own.{symbol}"
        module.get_function(SEEN).name = symbol
        target = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(),
            features=llvm.get_host_cpu_features().flatten(),
            opt=BEST,
            reloc="pic",
            codemodel="default",
        )
        optimise(module, target, BEST)
        return bytes(target.emit_object(module))


@lru_cache(8)
def pass_builder(target: Any, level: int) -> Any:
    """What puts passes together; freeing it frees less than making it takes.

    It stays until the process has ended: by then llvmlite could not free it any more.
    """
    llvm = binding()
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    builder = llvm.create_pass_builder(target, options)
    options._owned = builder._owned = True  # by the process, that is: llvmlite does not free them
    return builder


def optimise(module: Any, target: Any, level: int) -> None:
    """Run LLVM's passes."""
    builder = pass_builder(target, level)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    # llvmlite's class inherits a method that frees nothing before the one that does.
    binding().newpassmanagers.NewPassManager._dispose(passes)
    passes.detach()


def assembly(text: str, level: int) -> str:
    """The processor's instructions for a module, to read."""
    with parsed(text) as module:
        if level:
            optimise(module, shared_machine(level), level)
        return str(shared_machine(level).emit_assembly(module))


class Worker:
    """A thread that does jobs in turn, and lives as long as there are any.

    While somebody waits for a result, jobs that are not urgent wait: LLVM serves one at a time. The
    interpreter waits for the thread before it ends, or LLVM would be taken down while it works.
    What has not begun by then is left.

    While it works, threads take shorter turns (`TURN`), or a call of the user's that takes
    microseconds would now and then wait milliseconds for Python's lock.
    """

    def __init__(self) -> None:
        self.jobs: deque[tuple[bool, Callable[[], object]]] = deque()
        self.turn = 0.0  # how long a turn is while nothing is done
        self.thread: threading.Thread | None = None
        self.changed = threading.Condition()
        self.waiting = 0  # how many wait for a result

    def do(self, job: Callable[[], object], urgent: bool = False, soon: bool = False) -> None:
        """Do a job later: urgent ones while somebody waits as well, others soon or in turn."""
        with self.changed:
            (self.jobs.appendleft if soon else self.jobs.append)((urgent, job))
            self.changed.notify()
            if self.thread is None or not self.thread.is_alive():
                self.shorten_turns()
                self.thread = threading.Thread(target=self.work, name="pullback-compiler")
                with suppress(RuntimeError):  # the interpreter is ending
                    self.thread.start()

    def work(self) -> None:
        while True:
            job = self.next()
            if job is None:
                return
            job()

    def next(self) -> Callable[[], object] | None:
        """The next job, in time; None if there is none, or no time for any."""
        with self.changed:
            while self.jobs and threading.main_thread().is_alive():
                for at, (urgent, job) in enumerate(self.jobs):
                    if urgent or not self.waiting:
                        del self.jobs[at]
                        return job
                self.changed.wait(LOOK)
            self.restore_turns()
            self.thread = None
            return None

    def shorten_turns(self) -> None:
        self.turn = sys.getswitchinterval()
        if self.turn > TURN:
            sys.setswitchinterval(TURN)

    def restore_turns(self) -> None:
        if self.turn > TURN and sys.getswitchinterval() == TURN:  # nobody has set it meanwhile
            sys.setswitchinterval(self.turn + 5e-7)  # Python cuts off what is below 1e-6

    @contextmanager
    def held(self) -> Iterator[None]:
        """While this lasts, what is not urgent waits."""
        with self.changed:
            self.waiting += 1
        try:
            yield
        finally:
            with self.changed:
                self.waiting -= 1
                self.changed.notify()

    def forked(self) -> None:
        if self.thread is not None:
            self.restore_turns()
        self.__init__()  # type: ignore[misc]  # begun anew, by the same name


LOOK = 0.1  # seconds after which a job that waits sees whether the process ends
TURN = 0.0005  # seconds that a thread runs before another one that waits for Python's lock
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

SHARED: weakref.WeakValueDictionary[tuple[str, int], MachineCode] = weakref.WeakValueDictionary()


def compiled(text: str, level: int) -> MachineCode:
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
            code = MachineCode(text, level, content)
            if disk.folder() is not None and disk.write(key(text, level), content):
                WORKER.do(disk.evict)
        SHARED[text, code.level] = code
        return code


def at_hand(text: str, level: int) -> bool:
    """Whether an earlier process left the machine code of a module, at this level or the best."""
    return any(disk.has(key(text, at)) for at in (level, BEST))


def found(text: str, levels: list[int]) -> MachineCode | None:
    """The machine code that an earlier process made."""
    for level in levels:
        content = disk.read(key(text, level))
        if content is not None:
            COUNTS["found"] += 1
            return MachineCode(text, level, content)
    return None
