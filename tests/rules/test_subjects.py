"""What a finding is about: a rule names its system, whatever it declares."""

from collections.abc import Callable

import pytest

from collectors.facts import Fact, Facts
from collectors.facts.ase import LockHashtable, Server
from collectors.facts.base import Undeclared
from collectors.facts.openvms import LockRates, Node
from rules.ase._evidence import server
from rules.openvms._evidence import node


@pytest.mark.parametrize(
    ("subject_of", "system", "measured", "otherwise"),
    [
        (server.subject_of, Server(name="PROD1"), LockHashtable(table="address"), "server"),
        (node.subject_of, Node(name="PROD1"), LockRates(statistic="mean"), "node"),
    ],
    ids=["ase", "openvms"],
)
def test_a_rule_that_does_not_declare_its_system_names_it(
    subject_of: Callable[[Facts], str], system: Fact, measured: Fact, otherwise: str
) -> None:
    facts = Facts((system, measured)).narrowed([type(measured)])
    assert subject_of(facts) == "PROD1"
    assert subject_of(Facts((measured,)).narrowed([type(measured)])) == otherwise
    with pytest.raises(Undeclared):  # the rule itself may ask for it no more than before
        facts.every(type(system))
    assert facts.also(type(system)).every(type(measured)) == [measured]
