"""Answers a SELECT: sqlglot reads it, SQLite computes it over the tables as they are at this moment.

Names are case-sensitive, as on a server with a binary sort order, and a column or table that is not there is an error.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from tests.live.ase import errors, functions, schema
from tests.live.ase.batches import Piece, value
from tests.live.ase.kinds import is_text, kind
from tests.live.tds.session import Client
from tests.live.tds.tokens import Rows
from tests.live.tds.types import Column

if TYPE_CHECKING:
    from tests.live.ase.world import World

OURS = "ase_"
"""What the server's own functions are called for sqlglot, which has ideas of its own about some of them."""
CONVERT = re.compile(r"\bconvert\s*\(\s*((?:unsigned\s+)?\w+\s*(?:\(\s*\d+(?:\s*,\s*\d+)?\s*\))?)\s*,", re.IGNORECASE)
ISOLATION = re.compile(r"\s+at\s+isolation\s+(?:read\s+uncommitted|\w+)\s*$", re.IGNORECASE)


class Selected:
    """A SELECT that was understood: the tables it reads, and its answer."""

    def __init__(self, world: "World", client: Client, statement: Sequence[Piece]) -> None:
        """Read the statement. Raises `errors.Failed` as the server would."""
        self.world, self.client = world, client
        self.names = functions.functions(world, client)
        text = self._prepared(statement)
        try:
            tree = sqlglot.parse_one(text, read="tsql")
        except sqlglot.errors.SqlglotError as error:
            raise errors.syntax(text[:30]) from error
        if not isinstance(tree, exp.Query):
            raise errors.syntax(text[:30])
        self.tree: exp.Query = tree
        self.tables: dict[tuple[str, str], str] = {}
        for node in list(self.tree.find_all(exp.Table)):
            self._place(node)

    def answer(self) -> Rows:
        """Compute it. Raises `errors.Failed`."""
        columns = self._resolve(self.tree)
        with_text = self.tree.sql("sqlite")
        base = sqlite3.connect(":memory:")
        try:
            base.execute("pragma case_sensitive_like = on")
            for name, function in self.names.items():
                base.create_function(OURS + name, -1, function)
            for (database, name), placed in self.tables.items():
                self._fill(base, database, name, placed)
            found = base.execute(with_text).fetchall()
        except sqlite3.Error as error:
            raise errors.syntax(f"{with_text[:60]} ({error})") from error
        finally:
            base.close()
        return Rows(columns, found)

    def _prepared(self, statement: Sequence[Piece]) -> str:
        """Write the statement so that sqlglot takes it for what the server takes it for."""
        quoted_names = self.client.options.get("quoted_identifier", "off") == "on"
        parts = [self._piece(piece, quoted_names=quoted_names) for piece in statement]
        for at, piece in enumerate(statement):
            after = next((one.text for one in statement[at + 1 :] if one.kind != "blank"), "")
            if piece.kind == "word" and after == "(" and piece.text.lower() in self.names.keys() - {"convert"}:
                parts[at] = OURS + piece.text.lower()
            elif piece.kind == "word" and piece.text.lower() in ("holdlock", "noholdlock", "readpast"):
                parts[at] = ""
        text = ISOLATION.sub("", "".join(parts))
        return CONVERT.sub(lambda found: f"{OURS}convert('{' '.join(found[1].split())}',", text)

    def _piece(self, piece: Piece, *, quoted_names: bool) -> str:
        if piece.kind == "quoted" and not quoted_names:
            return "'" + value(piece).replace("'", "''") + "'"
        if piece.text.startswith("@@"):
            return f"{OURS}global('{piece.text[2:].lower()}')"
        return piece.text

    def _place(self, node: exp.Table) -> None:
        """Find a table and give it the name that it has in SQLite."""
        database = node.catalog or self.client.database
        name = node.name
        use(self.world, self.client, database)
        if self.world.table(database, name) is None or node.db not in ("", "dbo"):
            raise errors.no_object(node.sql("tsql").partition(" AS ")[0])
        if name in schema.MONITORING and "mon_role" not in functions.roles(self.world):
            raise errors.no_role("mon_role")
        placed = f"{database}__{name}"
        self.tables[(database, name)] = placed
        if not node.alias:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
        node.set("this", exp.to_identifier(placed, quoted=True))
        node.set("db", None)
        node.set("catalog", None)

    def _fill(self, base: sqlite3.Connection, database: str, name: str, placed: str) -> None:
        columns = [made.column.name for made in self.world.columns[name]]
        listed = ", ".join(f'"{one}"' for one in columns)
        base.execute(f'create table "{placed}" ({listed})')
        marks = ", ".join("?" * len(columns))
        base.executemany(f'insert into "{placed}" values ({marks})', _stored(self.world.rows(database, name)))

    def _resolve(self, query: exp.Query) -> list[Column]:
        """Find the columns of a query's result, write its stars out, and have `+` join texts."""
        if isinstance(query, exp.SetOperation):
            self._resolve(query.expression)
            return self._resolve(query.this)
        assert isinstance(query, exp.Select)
        sources = self._sources(query)

        def scope(node: exp.Column) -> Column:
            return _find(node, sources)

        shown: list[exp.Expression] = []
        for one in query.expressions:
            shown += _written_out(one, sources)
        query.set("expressions", shown)
        for inner in list(query.find_all(exp.Subquery, exp.Exists)):
            if (
                isinstance(inner.this, exp.Select)
                and inner.parent is not None
                and not isinstance(inner.parent, exp.From)
            ):
                self._resolve_inner(inner.this, sources)
        columns = [self._column(one, scope) for one in shown]
        for node in list(query.find_all(exp.Column)):
            if node.find_ancestor(exp.Select) is query and not self._is_label(node, query):
                scope(node)
        for add in list(query.find_all(exp.Add)):
            if is_text(kind(add, scope)):
                add.replace(exp.DPipe(this=add.left, expression=add.right))
        return columns

    def _resolve_inner(self, query: exp.Select, outer: dict[str, list[Column]]) -> None:
        """A query inside another sees the other's tables too."""
        sources = {**outer, **self._sources(query)}
        shown: list[exp.Expression] = []
        for one in query.expressions:
            shown += _written_out(one, self._sources(query))
        query.set("expressions", shown)
        for node in query.find_all(exp.Column):
            _find(node, sources)

    def _sources(self, query: exp.Select) -> dict[str, list[Column]]:
        """The columns of each table that a query reads, by the name it has there."""
        found: dict[str, list[Column]] = {}
        given = [query.args.get("from_"), *(query.args.get("joins") or ())]
        for node in (one.this for one in given if one is not None):
            if isinstance(node, exp.Subquery):
                found[node.alias] = self._resolve(node.this)
            else:
                _, _, name = str(node.name).partition("__")
                found[node.alias] = [made.column for made in self.world.columns[name]]
        return found

    def _column(self, node: exp.Expression, scope: Any) -> Column:
        made = kind(node, scope)
        name = made.name if isinstance(node, exp.Alias | exp.Column) else ""
        return Column(name, made.type, made.size, made.precision, made.scale)

    def _is_label(self, node: exp.Column, query: exp.Select) -> bool:
        """Whether a name in ORDER BY is that of a column of the result."""
        if node.table or node.find_ancestor(exp.Order, exp.Having) is None:
            return False
        return any(one.alias_or_name == node.name for one in query.expressions)


def use(world: "World", client: Client, database: str) -> None:
    """Check that a database may be used. Raises `errors.Failed`."""
    if not any(one["name"] == database for one in world.databases):
        raise errors.no_database(database)
    if world.faults.has("refuse-database", database):
        raise errors.no_user(client.user, database)
    if world.faults.has("offline-database", database):
        raise errors.offline(database)


def _find(node: exp.Column, sources: dict[str, list[Column]]) -> Column:
    """Find the column that a name means. Raises `errors.Failed`."""
    if node.table and node.table not in sources:
        raise errors.Failed(
            107, 15, f"The column prefix '{node.table}' does not match with a table name or alias name."
        )
    places = [sources[node.table]] if node.table else list(sources.values())
    for columns in places:
        for one in columns:
            if one.name == node.name:
                return one
    raise errors.no_column(node.name)


def _written_out(node: exp.Expression, sources: dict[str, list[Column]]) -> list[exp.Expression]:
    """Write a star out as the columns it stands for."""
    if isinstance(node, exp.Star):
        wanted = list(sources)
    elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        wanted = [node.table]
    else:
        return [node]
    return [
        exp.column(exp.to_identifier(one.name, quoted=True), table=exp.to_identifier(source, quoted=True))
        for source in wanted
        for one in sources[source]
    ]


def _stored(rows: Sequence[Sequence[Any]]) -> Iterator[list[Any]]:
    """Give rows as SQLite keeps them: dates as text."""
    for row in rows:
        yield [functions.iso(one) if hasattr(one, "strftime") else one for one in row]
