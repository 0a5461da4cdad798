"""`python -m tests.on_postgres [PYTEST ARGUMENTS]`: the tests of the service on PostgreSQL (default: tests/advisor).

Tests that are given no database cannot tell the one from the other, so `tests/conftest.py` leaves them out here.
"""

import os
import subprocess
import sys

from tests.servers import ROOT, CannotStart, postgres

WITH_DATABASE = "LOCKWRIGHT_TESTS_WITH_A_DATABASE_ALONE"


def main() -> int:
    """Run pytest against a private PostgreSQL; gives its exit status, or 2 where no PostgreSQL starts."""
    command = [sys.executable, "-m", "pytest", *(sys.argv[1:] or ["tests/advisor"])]
    try:
        with postgres() as address:
            return subprocess.run(
                command, cwd=ROOT, env={**os.environ, "DATABASE_URL": address, WITH_DATABASE: "1"}, check=False
            ).returncode
    except CannotStart as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
