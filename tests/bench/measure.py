"""One measurement in a process of its own: `python -m tests.bench.measure read|lines FILE`."""

import json
import resource
import sys
import time
from pathlib import Path

from collectors.read import read_stream


def main() -> None:
    what, file = sys.argv[1:]
    count = problems = 0
    idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    since = time.perf_counter()
    with Path(file).open("rb") as stream:
        if what == "lines":
            for _ in stream:
                count += 1
        else:
            for one in read_stream(file, stream):
                count += len(one.facts)
                problems += len(one.problems)
    seconds = time.perf_counter() - since
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(  # noqa: T201 - this is the result
        json.dumps(
            {"seconds": seconds, "count": count, "problems": problems, "peak_mb": peak / 1024, "idle_mb": idle / 1024}
        )
    )


if __name__ == "__main__":
    main()
