"""Which view of an OpenVMS capture shows what a finding speaks of."""

from advisor.audits.services.tabs import TABS
from advisor.openvms.services import cluster, cpus, lock_trees, what_if

VIEWS = (
    ("openvms-cpus", cpus.RULES),
    ("openvms-cluster", cluster.RULES),
    ("openvms-lock-trees", lock_trees.RULES),
    ("openvms-what-if", (what_if.HASH_RULE, what_if.LOCK_ID_RULE)),
)
"""Name of the address, and the rules that it is about; the words are those of its tab."""


def shown_on(product: str) -> dict[str, tuple[str, str]]:
    """By rule the name of the address and the words of the view, for a system of this product."""
    if product != "openvms":
        return {}
    words = {tab.name: tab.words for tab in TABS["openvms"]}
    return {rule: (name, words[name]) for name, rules in VIEWS for rule in rules}
