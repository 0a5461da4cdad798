"""The binding plan is an optimum: held against every other plan there is, for problems small enough to try all."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.laws.binding import (
    TOGETHER,
    Cache,
    Optimum,
    Piece,
    Terms,
    cache_size_mb,
    collisions,
    overhead_mb,
    overhead_points,
)
from rules.laws.binding_search import MOST_PIECES, best_binding

ONE = Cache("default", 0.2, 2)
ROOMY = Terms(memory_mb=1e6, least_gain=0.0, most_partitions=4)


def pieces(*shares: float, size: float = 10.0, family: str = "u") -> tuple[Piece, ...]:
    return tuple(Piece(f"p{i}", share, size, "default", family) for i, share in enumerate(shares))


def every_plan(caches: tuple[Cache, ...], moving: tuple[Piece, ...], terms: Terms) -> float:
    """The lowest objective of all plans, by trying all: what the search must find. Written on its own."""
    homes = {piece.home for piece in moving}
    targets = [cache for cache in caches if cache.families and cache.name not in homes]
    sizes = [1 << power for power in range(9) if 1 << power <= terms.most_partitions]
    start = {c.name: c.share + sum(p.share for p in moving if p.home == c.name) for c in caches}
    now = sum(start[c.name] ** 2 / c.partitions for c in caches)
    lowest = now
    for places in itertools.product([None, *targets, *range(terms.most_caches)], repeat=len(moving)):
        load, room, new = dict(start), {c.name: c.room_mb for c in caches}, dict[int, list[Piece]]()
        cost, allowed = 0.0, True
        for piece, place in zip(moving, places, strict=True):
            if place is None:
                continue
            cost += terms.least_gain * piece.price
            load[piece.home] -= piece.share
            if isinstance(place, Cache):
                load[place.name] += piece.share
                room[place.name] -= piece.size_mb
                allowed = allowed and piece.family in place.families and room[place.name] >= 0
            else:
                new.setdefault(place, []).append(piece)
        kinds = [len({piece.family for piece in members}) for members in new.values()]
        if not allowed or any(kind > 1 for kind in kinds):
            continue
        pairs = [pair for members in new.values() for pair in itertools.combinations(members, 2)]
        cost += TOGETHER * now * sum(bool(one.table) and one.table == other.table for one, other in pairs)
        cost += sum(load[c.name] ** 2 / c.partitions for c in caches)
        for cuts in itertools.product(sizes, repeat=len(new)):
            memory, spread = 0.0, 0.0
            for members, cut in zip(new.values(), cuts, strict=True):
                size = cache_size_mb(sum(piece.size_mb for piece in members), cut, terms.partition_mb)
                memory += size + overhead_mb(size)
                spread += sum(piece.share for piece in members) ** 2 / cut
            if memory <= terms.memory_mb + 1e-9:
                lowest = min(lowest, cost + spread)
    return lowest


shares = st.one_of(st.just(0.0), st.floats(0.001, 0.3))
problems = st.tuples(
    st.tuples(
        st.builds(Cache, st.just("default"), st.floats(0, 0.5), st.sampled_from([1, 2, 4])),
        st.builds(Cache, st.just("other"), st.floats(0, 0.3), st.just(2)),
        st.builds(
            Cache,
            st.just("named"),
            st.floats(0, 0.3),
            st.sampled_from([1, 4]),
            st.floats(0, 60),
            st.sampled_from([frozenset[str](), frozenset(("u",)), frozenset(("u", "r"))]),
        ),
    ),
    st.lists(
        st.builds(
            Piece,
            st.just("x"),
            shares,
            st.floats(0.1, 50),
            st.sampled_from(["default", "default", "other"]),
            st.sampled_from(["u", "r"]),
            st.sampled_from(["", "t", "s"]),
            st.sampled_from([1.0, 2.0]),
        ),
        max_size=4,
    ).map(lambda many: tuple(replace(one, name=f"p{i}") for i, one in enumerate(many))),
    st.builds(
        Terms,
        st.sampled_from([0.0, 20.0, 60.0, 200.0]),
        st.sampled_from([0.0, 0.001, 0.01]),
        st.integers(0, 2),
        st.sampled_from([1, 2, 4]),
        st.sampled_from([0.5, 4.0]),
        st.just(100_000),
    ),
)


@settings(max_examples=150, deadline=None)
@given(problems)
def test_no_plan_is_better_than_the_one_found(
    problem: tuple[tuple[Cache, ...], tuple[Piece, ...], Terms],
) -> None:
    caches, moving, terms = problem
    found, lowest = best_binding(caches, moving, terms), every_plan(caches, moving, terms)
    assert found.cost == pytest.approx(lowest, rel=1e-9, abs=1e-11)
    assert found.proven
    check_kept(found, caches, moving, terms)


@settings(max_examples=100, deadline=None)
@given(problems, st.integers(0, 3))
def test_a_search_that_is_cut_short_says_truly_how_far_it_may_be_from_the_best(
    problem: tuple[tuple[Cache, ...], tuple[Piece, ...], Terms], nodes: int
) -> None:
    caches, moving, terms = problem
    found = best_binding(caches, moving, replace(terms, most_nodes=nodes))
    lowest = every_plan(caches, moving, terms)
    assert found.bound <= lowest + 1e-11
    assert found.cost >= lowest - 1e-11
    check_kept(found, caches, moving, terms)


def check_kept(found: Optimum, caches: tuple[Cache, ...], moving: tuple[Piece, ...], terms: Terms) -> None:
    """Memory, room, sizes and partitions are kept, and no share is lost."""
    by_name = {piece.name: piece for piece in moving}
    assert sum(cache.memory_mb for cache in found.new) <= terms.memory_mb + 1e-6
    assert len(found.new) <= terms.most_caches
    assert len(set(found.moved)) == len(found.moved)
    for cache in found.new:
        members = [by_name[name] for name in cache.members]
        assert cache.size_mb >= sum(piece.size_mb for piece in members) - 1e-6
        assert cache.size_mb / cache.partitions >= terms.partition_mb - 1e-9
        assert cache.partitions & (cache.partitions - 1) == 0
        assert cache.partitions <= terms.most_partitions
        assert {piece.family for piece in members} == {cache.family}
    for there in caches:
        joined = [by_name[name] for name, target in found.joined.items() if target == there.name]
        assert sum(piece.size_mb for piece in joined) <= there.room_mb + 1e-6
    total = sum(cache.share for cache in caches) + sum(piece.share for piece in moving)
    assert sum(found.shares.values()) + sum(cache.share for cache in found.new) == pytest.approx(total)
    assert found.after <= found.now + 1e-12


def test_the_chance_to_meet_is_the_sum_of_squares_over_partitions() -> None:
    assert collisions([(1.0, 1)]) == 1.0
    assert collisions([(1.0, 8)]) == 0.125
    assert collisions([(0.5, 1), (0.5, 1)]) == 0.5
    with pytest.raises(ValueError, match="partition"):
        collisions([(1.0, 0)])


def test_one_hot_table_leaves_for_a_cache_of_its_own() -> None:
    found = best_binding((ONE,), pieces(0.5, 0.01), replace(ROOMY, least_gain=0.02, most_partitions=2))
    (cache,) = found.new
    assert cache.members == ("p0",)
    assert cache.partitions == 2
    assert found.shares == {"default": pytest.approx(0.21)}
    assert found.after == pytest.approx(0.21**2 / 2 + 0.25 / 2)


def test_a_move_that_gains_less_than_asked_is_not_made() -> None:
    gain = 0.3 * (2 * 0.5 - 0.3) / 2 - 0.3**2 / 4
    assert best_binding((ONE,), pieces(0.3), replace(ROOMY, least_gain=gain * 0.99)).moved == ("p0",)
    assert best_binding((ONE,), pieces(0.3), replace(ROOMY, least_gain=gain * 1.01)).moved == ()


def test_what_costs_an_outage_has_to_gain_more() -> None:
    (piece,) = pieces(0.3)
    terms = replace(ROOMY, least_gain=0.05)
    assert best_binding((ONE,), (piece,), terms).moved
    assert not best_binding((ONE,), (replace(piece, price=3.0),), terms).moved


def test_families_never_share_a_cache() -> None:
    found = best_binding((ONE,), (*pieces(0.3), replace(pieces(0.3)[0], name="r", family="r")), ROOMY)
    assert sorted(cache.members for cache in found.new) == [("p0",), ("r",)]
    alone = best_binding(
        (ONE,), (*pieces(0.3), replace(pieces(0.2)[0], name="r", family="r")), replace(ROOMY, most_caches=1)
    )
    assert alone.moved == ("p0",)
    assert set(best_binding((ONE,), pieces(0.3, 0.2), replace(ROOMY, most_caches=1)).moved) == {"p0", "p1"}


def test_a_table_and_its_index_part_where_nothing_else_speaks_against_it() -> None:
    table, index, other, last = (replace(one, table=t) for one, t in zip(pieces(*[0.2] * 4), "aabb", strict=True))
    found = best_binding((replace(ONE, share=0.2),), (table, index, other, last), replace(ROOMY, most_caches=2))
    assert all(len({name for name in cache.members if name in ("p0", "p1")}) < 2 for cache in found.new)


def test_memory_decides_between_tables() -> None:
    large, small = replace(pieces(0.4)[0], size_mb=500.0), replace(pieces(0.3)[0], name="small", size_mb=20.0)
    assert best_binding((ONE,), (large, small), replace(ROOMY, memory_mb=100.0)).moved == ("small",)
    assert set(best_binding((ONE,), (large, small), replace(ROOMY, memory_mb=600.0)).moved) == {"p0", "small"}
    assert best_binding((ONE,), (large, small), replace(ROOMY, memory_mb=10.0)).moved == ()


def test_little_memory_makes_fewer_partitions_rather_than_no_cache() -> None:
    tight = replace(ROOMY, partition_mb=8.0, most_partitions=8)
    (cache,) = best_binding((ONE,), pieces(0.5), replace(tight, memory_mb=20.0)).new
    assert (cache.partitions, cache.size_mb) == (2, 16)
    (cache,) = best_binding((ONE,), pieces(0.5), replace(tight, memory_mb=1000.0)).new
    assert (cache.partitions, cache.size_mb) == (8, 64)


def test_a_cache_that_has_room_is_used_without_memory() -> None:
    named = Cache("named", 0.05, 8, room_mb=25.0, families=frozenset(("u",)))
    found = best_binding((ONE, named), pieces(0.4, 0.3, size=20.0), replace(ROOMY, memory_mb=0.0))
    assert found.joined == {"p0": "named"}
    assert found.new == ()


def test_the_order_of_the_pieces_does_not_matter() -> None:
    many = pieces(0.2, 0.15, 0.1, 0.05, 0.2)
    first = best_binding((ONE,), many, replace(ROOMY, most_caches=2))
    assert best_binding((ONE,), many[::-1], replace(ROOMY, most_caches=2)) == first


def test_a_large_problem_ends_at_the_limit_of_nodes_with_a_bound() -> None:
    many = tuple(
        Piece(f"p{i:02}", (1 + i * 0.001) / 30, 10.0 + 7 * (i % 5), "default", "u") for i in range(MOST_PIECES)
    )
    found = best_binding((ONE,), many, Terms(400.0, 0.002, 4, 16, 0.5, most_nodes=300))
    assert found.nodes == 300
    assert not found.proven
    assert 0 < found.gap_percent < 60
    assert found.bound <= found.cost


@pytest.mark.parametrize(
    "wrong",
    [
        pieces(*[0.01] * (MOST_PIECES + 1)),
        (replace(pieces(0.1)[0], home="nowhere"),),
        pieces(-0.1),
        pieces(0.1, size=0.0),
    ],
)
def test_a_problem_that_is_none_is_refused(wrong: tuple[Piece, ...]) -> None:
    with pytest.raises(ValueError, match="piece"):
        best_binding((ONE,), wrong, ROOMY)


@pytest.mark.parametrize(
    ("size", "overhead"), [(0, 0), (10, 0.73), (59.44, 4.10), (95_000, 3_874), (190_000, 7_748), (5, 0.365)]
)
def test_the_overhead_goes_through_the_vendors_points(size: float, overhead: float) -> None:
    assert overhead_mb(size) == pytest.approx(overhead)


@given(st.floats(0, 200_000), st.floats(0, 1000))
def test_a_larger_cache_never_has_less_overhead(size: float, more: float) -> None:
    assert overhead_mb(size + more) >= overhead_mb(size)


def test_a_negative_size_has_no_overhead() -> None:
    with pytest.raises(ValueError, match="negative"):
        overhead_mb(-1)


def test_what_the_server_answered_is_exact_there_and_forgotten_far_away() -> None:
    points = overhead_points({500.0: 35.3, 1000.0: 62.0})
    assert overhead_mb(500.0, points) == pytest.approx(35.3)
    assert overhead_mb(750.0, points) == pytest.approx((35.3 + 62.0) / 2)
    assert overhead_mb(250.0, points) == pytest.approx(35.3 / 2)
    assert overhead_mb(2000.0, points) == pytest.approx(124.0)
    assert overhead_mb(10.0, points) == overhead_mb(10.0)
    assert overhead_mb(90_000.0, points) == pytest.approx(overhead_mb(90_000.0))


@pytest.mark.parametrize("measured", [{500.0: 35.3}, {500.0: 2.0}, {40.0: 9.0}, {8.0: 3.0, 30.0: 3.1}, {9e4: 9e3}])
def test_overhead_never_falls_as_a_cache_grows(measured: dict[float, float]) -> None:
    points = overhead_points(measured)
    sizes = [0.0, *(2 ** (step / 4) for step in range(80))]
    taken = [overhead_mb(size, points) for size in sizes]
    assert taken == sorted(taken)
    assert [size for size, _ in points] == sorted({size for size, _ in points})


@pytest.mark.parametrize("measured", [{}, {500.0: 0.0}, {500.0: 500.0}, {500.0: -3.0}])
def test_what_cannot_be_an_overhead_is_left_out(measured: dict[float, float]) -> None:
    assert overhead_points(measured) == overhead_points({})


def test_a_plan_has_the_memory_that_the_server_says_a_cache_takes() -> None:
    whole = replace(ROOMY, memory_mb=110.0)
    (cheap,) = best_binding((ONE,), pieces(0.5, size=100.0), whole).new
    assert cheap.overhead_mb < 10.0
    dear = replace(whole, overhead=overhead_points({100.0: 20.0}))
    assert best_binding((ONE,), pieces(0.5, size=100.0), dear).new == ()
