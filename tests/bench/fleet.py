"""`python -m tests.bench.fleet`: a fleet that audits itself every hour, on two cores of this machine.

PostgreSQL, Redis, the scheduler and the workers are processes of their own on the first two cores; what measures, and
the mail server, are on the others. Each round drops one hour's captures of all systems at one moment, with all
schedules due at that moment: the worst hour there can be. Never a timed test: figures are printed, beside one process
that reads and judges the same files without a database. Machines differ and are noisy, so quote the ratio.
"""

import argparse
import os
import signal
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

from tests.bench.fleet_figures import Growth, Hour, hour_since, left, settle, sizes, spread, waited
from tests.bench.fleet_mail import all_sent, receiving
from tests.bench.fleet_site import MEGABYTE, OTHERS, SERVICE, Meter, Service, service
from tests.servers import manage

DAY = 24
YARDSTICK = 60
"""Captures that one process reads and judges by itself."""
PATIENCE = 3600.0
"""Seconds for one hour's captures: what takes longer cannot keep up."""
POLL = 0.5


def say(text: str = "") -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.fleet")
    parser.add_argument("--systems", type=int, default=1000)
    parser.add_argument("--workers", default="1,2,3,4", help="processes that audit, a round each; default: 1,2,3,4")
    parser.add_argument("--settle", type=int, default=5, help="seconds a file must not change; default: 5")
    parser.add_argument("--one-schedule", action="store_true", help="over the folders of all, not one a system")
    parser.add_argument("--minutes", type=float, default=5, help="of the steady hour that is watched; 0: none of it")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit("ended"))  # what was started ends as well
    with service() as site:
        say(f"{given.systems:,} systems, cores {SERVICE} for the service, {OTHERS or SERVICE} for what measures")
        amount = [f"--fleet={given.systems}", f"--settle={given.settle}", *(["--one-schedule"] * given.one_schedule)]
        hour = datetime.now().astimezone().replace(minute=0, second=0, microsecond=0) - timedelta(hours=40)
        since = time.monotonic()
        manage("seed", *amount, f"--hour={hour.isoformat()}", environment=site.environment)
        say(f"seeded in {time.monotonic() - since:.0f} s")
        bench = Bench(site, hour)
        bench.yardstick()
        bench.warm_up()
        bench.rounds([int(one) for one in given.workers.split(",")])
        if given.minutes:
            bench.steady(given.minutes)


class Bench:
    """The rounds, an hour of the fleet each."""

    def __init__(self, site: Service, hour: datetime) -> None:
        """Begin with this hour, which lies in the folders already."""
        from advisor.operations.seeding import fleet as seed_fleet

        self.site, self.hour, self.fleet = site, hour, seed_fleet.fleet()
        self.alone = 0.0
        """Captures a second of the yardstick."""
        self.audits = 0
        """In the rounds until now."""

    def yardstick(self) -> None:
        """Read and judge the first captures in one process on one core, without a database."""
        from advisor.audits.services.auditing import run_audit
        from advisor.operations.seeding.fleet import folder_of
        from advisor.uploads.services.reading import read_exports

        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, SERVICE[:1])
        folders = [[str(path) for path in sorted(folder_of(one).iterdir())] for one in self.fleet[:YARDSTICK]]
        for paths in (folders[0], folders[-1]):
            run_audit(read_exports(paths, sys.stdin.buffer), {})
        since = time.perf_counter()
        for paths in folders:
            run_audit(read_exports(paths, sys.stdin.buffer), {})
        self.alone = len(folders) / (time.perf_counter() - since)
        os.sched_setaffinity(0, cores)
        size = sum(Path(path).stat().st_size for paths in folders for path in paths) / len(folders)
        say(f"yardstick: one process reads and judges {self.alone:.1f} captures/s of {size / 1e3:.0f} kB, no database")

    def warm_up(self) -> None:
        """Have the first hour audited: systems are known, and the database has the size of a first hour."""
        with self.site.working(2) as groups:
            self._hour(groups, drop=False)

    def rounds(self, workers: list[int]) -> None:
        """Measure an hour with so many processes; then on two machines, then with mail."""
        say("\nOne hour at one moment. Seconds: median, 95th percentile, longest; × is the ratio to the yardstick")
        spans = "".join(f"{name:^22}|" for name in ("due to first look", "taken to begun", "dropped to audited"))
        say(f"{'processes that audit':<25}{'all s':>7}{'a/s':>6}{'×':>6} |{spans}{'task s':>7}")
        before, growth = sizes(), Growth()
        for count in workers:
            self._round(f"{count}", count)
        if len(OTHERS) == len(SERVICE):
            self._round("2, and 2 on 2 more cores", 2, elsewhere=2)
        growth.add(before, sizes(), self.audits)
        say(f"\n{growth.told(len(self.fleet) * DAY)}")
        with receiving() as taken:
            before, growth, made = sizes(), Growth(), self.audits
            self._round("2, with mail of changes", 2, mails=True)
            growth.add(before, sizes(), self.audits - made)
            say(f"    {taken.count:,} mails, {taken.size / MEGABYTE:.1f} MB as they came")
            say(growth.told(len(self.fleet) * DAY))
            self._digest()

    def _round(self, name: str, count: int, elsewhere: int = 0, *, mails: bool = False) -> None:
        settle()
        with self.site.working(count, elsewhere) as groups:
            hour, meter = self._hour(groups)
            mailed = all_sent() if mails else ""
        self.audits += hour.audits
        rate = hour.audits / hour.busy
        say(
            f"{name:<25}{hour.seconds:7.1f}{rate:6.1f}{rate / self.alone:6.2f} |{hour.first_look} |"
            f"{hour.read} |{hour.audited} |{hour.task:7.3f}"
        )
        used = meter.used.items()
        cpu = ", ".join(f"{group} {one.cpu_seconds / hour.audits:.3f}" for group, one in used)
        memory = ", ".join(f"{group} {one.peak_bytes / MEGABYTE:.0f}" for group, one in used)
        say(f"    CPU s an audit: {cpu}; MB at most: {memory}, a process {meter.largest / MEGABYTE:.0f}")
        if mailed:
            say(f"    {mailed}")

    def _hour(self, groups: dict[str, int], *, drop: bool = True) -> tuple[Hour, Meter]:
        """Drop an hour's captures, have all schedules due, and wait until all are audited."""
        from advisor.operations.seeding import fleet as seed_fleet
        from advisor.schedules.models import Schedule

        if drop:
            self.hour += timedelta(hours=1)
            seed_fleet.drop(self.fleet, self.hour)
        with Meter(groups) as meter:
            dropped = datetime.now().astimezone()
            Schedule.objects.update(next_due=dropped)
            wait_for(len(self.fleet), dropped)
        return hour_since(dropped, dropped), meter

    def _digest(self) -> None:
        """Make the week of the whole fleet, as the courier does."""
        from advisor.notifications.mail.digest import digest_message
        from advisor.notifications.models import Recipient
        from advisor.notifications.services import outbox

        recipient = Recipient.objects.get()
        since = time.perf_counter()
        mail = outbox.render(digest_message(recipient, datetime.now().astimezone()))
        say(f"weekly digest: {time.perf_counter() - since:.1f} s, {len(mail.data) / 1e3:,.0f} kB")

    def steady(self, minutes: float) -> None:
        """Drop captures evenly, as many as an hour brings in so long, each with its schedule due at that moment."""
        from django.db.models import Q

        from advisor.operations.seeding import fleet as seed_fleet
        from advisor.schedules.models import Schedule

        self.hour += timedelta(hours=1)
        some = self.fleet[: max(1, round(len(self.fleet) * minutes / 60))]
        settle()
        with self.site.working(2) as groups:
            with Meter(groups) as idle:
                time.sleep(60)
            with Meter(groups) as meter:
                began = datetime.now().astimezone()
                for number, system in enumerate(some):
                    pause = number * minutes * 60 / len(some) - (datetime.now().astimezone() - began).total_seconds()
                    time.sleep(max(0.0, pause))
                    seed_fleet.drop([system], self.hour)
                    looks = Schedule.objects.filter(Q(system=system) | Q(system=None))
                    looks.update(next_due=datetime.now().astimezone())
                wait_for(len(some), began)
        busy = sum(one.cpu_seconds for one in meter.used.values()) / (minutes * 60 * len(SERVICE))
        rest = sum(one.cpu_seconds for one in idle.used.values()) / (60 * len(SERVICE))
        say(f"\nSteady, {len(some)} captures in {minutes:g} minutes: {busy:.1%} of two cores; without any: {rest:.1%}")
        say(f"seconds from dropped to audited: {spread(waited(began))}")


def wait_for(count: int, since: datetime) -> None:
    """Wait until so many uploads are audited. Raises `SystemExit` where some fail or it takes too long."""
    until = time.monotonic() + PATIENCE
    done = failed = 0
    while done < count:
        time.sleep(POLL)
        done, failed = left(since)
        if failed or time.monotonic() > until:
            raise SystemExit(f"{done} of {count} are audited, {failed} failed")


if __name__ == "__main__":
    main()
