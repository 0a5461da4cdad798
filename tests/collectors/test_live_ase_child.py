"""The collecting process runs into its own bounds, not into those of the machine, and says which."""

import errno
import io
import json
import subprocess
import sys

import pytest

from collectors.live.ase import child
from tests.live.running import ROOT
from tests.servers import PATIENCE

ORDER = {"parts": [["SERVER", "harbour"], ["PORT", "5000"]], "password": "quay 42", "order": {}, "write": True}


@pytest.mark.parametrize(
    ("error", "says", "do"),
    [
        (MemoryError(), "harbour:5000 answered with more than 2 GB", child.LESS),
        (OSError(errno.ENOSPC, "No space left on device"), "cannot be written (No space left on device)", child.ROOM),
        (OSError(errno.EFBIG, "File too large"), "cannot be written (File too large)", child.LESS),
    ],
)
def test_what_ends_it_is_said_with_a_remedy(
    error: Exception, says: str, do: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def asked(*given: object) -> None:
        raise error

    monkeypatch.setattr(child, "_bound_memory", lambda: None)
    monkeypatch.setattr(child, "_asked", asked)
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(ORDER)))
    child.main()
    failed = json.loads(capsys.readouterr().out)["failed"]
    assert says in failed["says"]
    assert failed["do"] == do


def test_it_takes_no_more_memory_than_its_bound() -> None:
    program = "from collectors.live.ase import child; child._bound_memory(); bytearray(child.MOST_MEMORY)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert done.stderr.endswith("MemoryError\n")
