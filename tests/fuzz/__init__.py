"""Damaged exports: readers give facts, problems and leftovers, rules give verdicts; nothing raises, nothing impossible.

`python -m tests.fuzz --count 20000 --seed 1` tries as many; every mutant is named by its source and its seed, so that
one that fails can be made again: `python -m tests.fuzz --only vlh_1 --seed 4711 --count 1 --show`.
"""
