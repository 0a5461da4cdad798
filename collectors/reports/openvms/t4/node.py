"""What one statistic of a T4 file says of the node beside locks and processor modes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from collectors.facts import Fact
from collectors.facts.openvms import AlignmentFaults, SystemRates

if TYPE_CHECKING:
    from collectors.reports.openvms.t4.facts import View


def node_rates(view: "View") -> Iterator[Fact]:
    """I/O, faults and alignment faults, for the groups that are there."""
    if view.layout.has("mon.syst"):
        rate, lists = view.of("mon.syst"), view.of("mon.page")
        yield SystemRates(
            source=view.source,
            statistic=view.statistic,
            direct_io_per_second=rate("direct i/o rate"),
            buffered_io_per_second=rate("buffered i/o rate"),
            page_fault_per_second=rate("page fault rate"),
            page_read_io_per_second=rate("page read i/o rate"),
            process_count=rate("process count"),
            free_list_pages=lists("free list size"),
            modified_list_pages=lists("modified list size"),
        )
    if view.layout.has("mon.align"):
        faults = view.of("mon.align")
        yield AlignmentFaults(
            source=view.source,
            statistic=view.statistic,
            kernel_per_second=faults("kernel"),
            exec_per_second=faults("exec"),
            super_per_second=faults("super"),
            user_per_second=faults("user"),
        )
