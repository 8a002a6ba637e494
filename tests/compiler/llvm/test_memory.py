"""What LLVM allocates for a module is given back when its machine code is made."""

import gc
import sys
from contextlib import closing
from pathlib import Path

import pytest

from pullback.compiler.llvm.binding import LOCK, SEEN, assembly, binding, exported, object_file

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def resident():
    """Kilobytes of the process that lie in memory; `tracemalloc` sees nothing of LLVM's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def make(numbers):
    with LOCK:
        for i in numbers:
            object_file(f"define i64 @f() {{ ret i64 {i} }}", 3)
    gc.collect()


@pytest.mark.share(2)
def test_machine_code_of_many_modules():
    make(range(20))
    before = resident()
    make(range(120))
    assert resident() - before < 2000  # 7,000 where the passes of each module are kept


def text(name, function="f"):
    typed = f"%{name} = type {{ i64 }}\n@{name} = global %{name} zeroinitializer\n"
    return f'{typed}define i64 @"{function}"() {{ ret i64 1 }}\n'


def refused(name):
    with pytest.raises(RuntimeError, match="parsing error"):
        object_file(text(name) + "define i64 @g() { ret double 1.0 }", 3)


WAYS = {
    "object": lambda name: object_file(text(name), 3),
    "exported": lambda name: exported(text(name, SEEN), "shown", [text("part", "g")]),
    "assembly": lambda name: assembly(text(name), 3),
    "refused": refused,
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_a_module_stays_in_a_context(way):
    """A context calls a type otherwise if it knows another one of that name."""
    WAYS[way](f"type_{way}")
    with LOCK, closing(binding().parse_assembly(text(f"type_{way}"))) as module:
        assert [x.name for x in module.struct_types] == [f"type_{way}"]
    contexts = [x for x in gc.get_objects() if type(x).__name__ == "ContextRef"]
    assert not [x for x in contexts if not x.closed]
