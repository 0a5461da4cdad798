"""One measurement in a process of its own: `python -m tests.bench.measure read|lines|captures FILE`.

Seconds are those of the processor: what other programs of a shared machine take meanwhile does not count.
"""

import json
import resource
import sys
import time
from pathlib import Path

from collectors.capture import captures
from collectors.read import read_stream


def main() -> None:
    what, file = sys.argv[1:]
    count = problems = 0
    idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    since = time.process_time()
    with Path(file).open("rb") as stream:
        if what == "lines":
            for _ in stream:
                count += 1
        else:
            found = read_stream(file, stream)
            count, problems = sum(len(one.facts) for one in found), sum(len(one.problems) for one in found)
            if what == "captures":
                count = sum(len(one.facts.items) for one in captures(found))
    seconds = time.process_time() - since
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(  # noqa: T201 - this is the result
        json.dumps(
            {"seconds": seconds, "count": count, "problems": problems, "peak_mb": peak / 1024, "idle_mb": idle / 1024}
        )
    )


if __name__ == "__main__":
    main()
