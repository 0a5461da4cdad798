"""Figures of the processors and memory of a UNIX host: whose they are.

They count for a server of SAP ASE where an export of one lies beside them, or where the user says so. Without any they
are those of a host, beside its record locks where these were listed: an `mpstat` alone tells of no server.
"""

from collections.abc import Hashable

from collectors.facts.ase import HostLoad, HostMemory, HostProcessors, LoadAverage, PartitionLoad
from collectors.group import Group, Groups, no_more_alone
from collectors.places import places_of

OF_HOST = (HostLoad, HostMemory, HostProcessors, LoadAverage, PartitionLoad)
OF_LISTED = (
    "names no host, so it is taken for one of that whose record locks are listed beside it: put figures of another "
    "host into a folder of their own"
)


def hosts_apart(groups: Groups) -> None:
    """Take figures of a host without any export of SAP ASE beside them out of that product."""
    of_ase = [(key, group) for key, group in groups.items() if group.product == "ase"]
    hosts = [(key, group) for key, group in of_ase if _is_host(group)]
    servers = {place for _, group in of_ase if not _is_host(group) for place in _places(group)} if hosts else set()
    for key, host in hosts:
        places = _places(host)
        if places & servers:
            continue
        listed = [group for group in groups.values() if group.product == "unix" and _places(group) & places]
        del groups[key]
        if len(listed) == 1:
            no_more_alone((*listed[0].inputs, *host.inputs))
            for one in host.inputs:
                one.problems.append(OF_LISTED)
            listed[0].inputs += host.inputs
        else:
            host.product = "unix"
            groups["unix", key[1]] = host


def _is_host(group: Group) -> bool:
    facts = (fact for one in group.inputs for fact in one.facts)
    return not group.named and all(isinstance(fact, OF_HOST) for fact in facts)


def _places(group: Group) -> set[Hashable]:
    return {place for one in group.inputs for place in places_of(one)}
