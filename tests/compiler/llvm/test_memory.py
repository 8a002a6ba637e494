"""What LLVM allocates for a module is given back when its machine code is made."""

import gc
import sys
from pathlib import Path

import pytest

from pullback.compiler.llvm.binding import LOCK, object_file

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
