"""Which view of an OpenVMS capture shows what a finding speaks of."""

from advisor.openvms.services import cluster, cpus, lock_trees, what_if

VIEWS = (
    ("openvms-cpus", "CPU map", cpus.RULES),
    ("openvms-cluster", "Cluster", cluster.RULES),
    ("openvms-lock-trees", "Lock trees", lock_trees.RULES),
    ("openvms-what-if", "Lock tables", (what_if.HASH_RULE, what_if.LOCK_ID_RULE)),
)
"""Name of the address, words of its tab, and the rules that it is about."""


def shown_on(product: str) -> dict[str, tuple[str, str]]:
    """By rule the name of the address and the words of the view, for a system of this product."""
    if product != "openvms":
        return {}
    return {rule: (name, words) for name, words, rules in VIEWS for rule in rules}
