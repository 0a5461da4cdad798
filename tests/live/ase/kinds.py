"""The type of each column of a SELECT's result, as the server would declare it."""

from collections.abc import Callable, Sequence

from sqlglot import exp

from tests.live.ase.schema import typed
from tests.live.tds.types import INTEGERS, Column

Scope = Callable[[exp.Column], Column]
"""Finds the column that a name in a query means. Raises `errors.Failed` where there is none."""

RETURNS = {
    "getdate": "datetime",
    "db_name": "varchar(30)",
    "user_name": "varchar(30)",
    "suser_name": "varchar(30)",
    "host_name": "varchar(30)",
    "object_name": "varchar(255)",
    "index_name": "varchar(255)",
    "lockscheme": "varchar(11)",
    "show_cached_text": "varchar(16384)",
    "show_role": "varchar(255)",
    "cluster": "varchar(30)",
    "str": "varchar(30)",
    "version_as_integer": "int",
    "tempdb_id": "int",
}
"""What the server's own functions return; of the others it is `int`."""
GLOBALS = {
    "servername": "varchar(30)",
    "version": "varchar(255)",
    "boottime": "datetime",
    "error": "int",
    "isolation": "int",
    "language": "varchar(30)",
    "version_as_integer": "int",
}
RANK = ["bit", "tinyint", "smallint", "int", "unsigned int", "bigint", "unsigned bigint", "numeric", "real", "float"]
"""Types by how much they hold: of two that meet in arithmetic the later one wins."""


def kind(node: exp.Expr, scope: Scope, name: str = "") -> Column:
    """Give the column that an expression makes; its name is empty where the query gives none."""
    match node:
        case exp.Alias():
            return _named(kind(node.this, scope), node.alias)
        case exp.Column():
            return scope(node)
        case exp.Paren() | exp.Neg() | exp.BitwiseNot() | exp.Max() | exp.Min() | exp.Distinct():
            return _named(kind(node.this, scope), name)
        case exp.Sum() | exp.Avg():
            return _sum(kind(node.this, scope))
        case exp.Count():
            return Column(name, "int")
        case exp.Literal():
            return _literal(node)
        case exp.Null():
            return Column(name, "int")
        case exp.Anonymous():
            return _named(_function(node, scope), name)
        case exp.Coalesce():
            return _widest([kind(one, scope) for one in (node.this, *node.expressions)])
        case exp.Case():
            answers = [one.args["true"] for one in node.args["ifs"]]
            answers += [node.args["default"]] if node.args.get("default") else []
            return _widest([kind(one, scope) for one in answers if not isinstance(one, exp.Null)])
        case exp.Subquery():
            return _named(kind(node.this.expressions[0], scope), name)
        case exp.Binary():
            return _widest([kind(node.left, scope), kind(node.right, scope)])
        case exp.Length() | exp.StrPosition():
            return Column(name, "int")
        case exp.Func():
            return Column(name, "varchar", size=255)
        case _:
            return Column(name, "varchar", size=255)


def is_text(column: Column) -> bool:
    """Whether `+` joins values of this column instead of adding them."""
    return column.type in ("char", "varchar", "text")


def _named(column: Column, name: str) -> Column:
    return Column(name, column.type, column.size, column.precision, column.scale)


def _literal(node: exp.Literal) -> Column:
    if node.is_string:
        return Column("", "varchar", size=max(1, len(str(node.this).encode())))
    whole, _, part = str(node.this).partition(".")
    if part:
        return Column("", "numeric", precision=len(whole) + len(part), scale=len(part))
    return Column("", "int" if int(whole) < 2**31 else "numeric", precision=len(whole))


def _function(node: exp.Anonymous, scope: Scope) -> Column:
    called = str(node.this).lower().removeprefix("ase_")
    if called == "convert":
        return typed("", str(node.expressions[0].this))
    if called == "global":
        return typed("", GLOBALS.get(str(node.expressions[0].this), "int"))
    if called == "isnull":
        return _widest([kind(one, scope) for one in node.expressions])
    return typed("", RETURNS.get(called, "int"))


def _sum(column: Column) -> Column:
    """A sum of small integers is an int, as the server has it."""
    return Column("", "int") if column.type in ("bit", "tinyint", "smallint") else _named(column, "")


def _widest(columns: Sequence[Column]) -> Column:
    if not columns:
        return Column("", "int")
    texts = [one for one in columns if is_text(one)]
    if texts:
        return Column("", "varchar", size=min(16_384, sum(one.size for one in texts)))
    if any(one.type == "datetime" for one in columns):
        return Column("", "datetime")
    widest = max(columns, key=lambda one: RANK.index(one.type))
    if widest.type in INTEGERS or widest.type != "numeric":
        return _named(widest, "")
    scale = max(one.scale if one.type == "numeric" else 0 for one in columns)
    return Column("", "numeric", precision=38, scale=min(38, scale + 6))
