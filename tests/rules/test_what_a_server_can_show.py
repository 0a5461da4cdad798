"""Nothing is asked of a server that its release or its kernel cannot show, and nothing unknown is taken for a no."""

import pytest

from collectors.facts import Fact, Facts
from collectors.facts.ase import (
    ConfigParameter,
    EngineBusy,
    MonSpinlockActivity,
    SemaphoreRequests,
    Server,
    SysmonSample,
    ThreadBusy,
)
from rules.ase._evidence.server import not_shown, process_mode, unknown_of
from rules.engine import judge_one, rules
from rules.finding import NotApplicable, Unknown


def server(version: str) -> Facts:
    return Facts((Server(name="A", version=version),))


def test_what_came_later_is_left_out_with_the_reason() -> None:
    found = unknown_of(server("12.5.4/EBF 15400 ESD#7.1"), MonSpinlockActivity, EngineBusy)
    assert isinstance(found, Unknown)
    assert [lack.fact for lack in found.missing] == ["ase.EngineBusy"]
    assert found.why == "monSpinlockActivity came with 15.7 ESD#2, and this server is 12.5.4"


def test_where_nothing_is_left_to_ask_for_the_rule_does_not_concern_the_server() -> None:
    assert isinstance(unknown_of(server("15.0.3/EBF 17770 ESD#4"), MonSpinlockActivity), NotApplicable)


@pytest.mark.parametrize("version", ["15.7/EBF 19495 SMP ", "16.0 SP02 PL05/EBF 26000", "unreadable"])
def test_an_unknown_level_is_asked(version: str) -> None:
    assert not not_shown(server(version), MonSpinlockActivity)
    assert isinstance(unknown_of(server(version), MonSpinlockActivity), Unknown)


@pytest.mark.parametrize(
    ("facts", "processes"),
    [
        ((ConfigParameter(name="kernel mode", run_value="process"),), True),
        ((ConfigParameter(name="kernel mode", run_value="threaded"), EngineBusy(engine=0)), False),
        ((Server(version="15.7/EBF 1 SMP SP110 /P/"), EngineBusy(engine=0)), True),
        ((Server(version="15.7/EBF 1 SMP SP110 /P/"), EngineBusy(engine=0), ThreadBusy(thread=1, name="x")), False),
        ((Server(version="15.7/EBF 1 SMP SP110 /P/"), EngineBusy(engine=0, pool="syb_default_pool")), False),
        ((EngineBusy(engine=0),), False),
        ((), False),
    ],
)
def test_the_mode_of_the_kernel(facts: tuple[Fact, ...], processes: bool) -> None:
    assert process_mode(Facts(facts)) is processes


def test_asynchronous_log_service_is_named_only_where_it_is_known_to_be_taken() -> None:
    (one,) = [one for one in rules() if one.id == "ase/log_semaphore_contended"]
    waits = (SysmonSample(seconds=60.0), SemaphoreRequests(name="Log", granted=2e4, waited=4e4, total=6e4))
    engines = tuple(EngineBusy(engine=number, user_percent=60.0) for number in range(4))
    queue = ConfigParameter(name="user log cache queue size", config_value=0.0, run_value=0.0)
    old, new = Server(version="15.7/EBF 1 SMP SP110 /P/"), Server(version="16.0 SP02 PL05/EBF 2")
    for facts, named in (
        ((old, *engines), True),
        ((old, *engines[:3]), False),
        ((old,), False),
        ((new, *engines), False),
        ((new, *engines, queue), True),
        ((*engines,), False),
    ):
        (finding,) = judge_one(one, Facts((*facts, *waits)), {}).findings
        assert ("Whether asynchronous log service helps" in finding.says) is named
