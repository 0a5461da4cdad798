"""The version after this one: a copy of the product with one more migration, of the kind that upgrades bring."""

import re
import shutil
from importlib.util import cache_from_source
from pathlib import Path

from tests.servers import ROOT

VERSION = "99.0.0"
TOLD_APART = {"uploads": ("Upload",), "audits": ("Capture", "Audit", "Finding"), "notifications": ("Mail",)}
"""By app: models whose rows say who wrote them, `made_by`."""
OLD, NEW = "before", "next"
"""What is in that column of rows that code of this version wrote, and of the next one."""

MIGRATION = """
from advisor.core.migration_operations import StopOlderVersions
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("{app}", "{parent}"), {after}]
    operations = [
        {stops}
        *(
            migrations.AddField(name, "made_by", models.CharField(max_length=9, default="{new}"{db_default}))
            for name in {names}
        ),
        {table}
    ]
"""
TABLE = """migrations.CreateModel(
            "Brought",
            [
                ("upload", models.OneToOneField("uploads.upload", models.CASCADE, primary_key=True, serialize=False)),
                ("by", models.CharField(max_length=9)),
            ],
        ),"""
MODELS = """
for _name in {names}:
    globals()[_name].add_to_class("made_by", models.CharField(max_length=9, default="{new}"{db_default}))
"""
BROUGHT = """

class Brought(models.Model):
    upload = models.OneToOneField(Upload, models.CASCADE, primary_key=True)
    by = models.CharField(max_length=9)
"""


def next_version(folder: Path, *, stops_older: bool = False) -> Path:
    """Make it in this folder, and give its place.

    `stops_older`: its migration says that this version must not write, and adds columns that its inserts leave out.
    """
    tree = folder / "next"
    tree.mkdir()
    for name in ("advisor", "rules", "collectors", "templates"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("manage.py", "requirements.txt"):
        shutil.copy(ROOT / name, tree)
    (tree / "tests").symlink_to(ROOT / "tests")
    keep_compiled(tree)
    version = tree / "advisor" / "core" / "version.py"
    version.write_text(re.sub(r'(?m)^VERSION = ".*"$', f'VERSION = "{VERSION}"', version.read_text()))
    stopping = ""  # the migration that stops older versions: those of other apps come after it
    for app, names in TOLD_APART.items():
        first = app == "uploads"
        migrations = tree / "advisor" / app / "migrations"
        parent = max(path.stem for path in migrations.glob("0*.py"))
        name = f"{int(parent[:4]) + 1:04}_next"
        stopping = name if first else stopping
        words = {
            "app": app,
            "parent": parent,
            "after": '("core", "0001_initial")' if first else f'("uploads", "{stopping}")',
            "new": NEW,
            "names": names,
            "stops": f'StopOlderVersions("{VERSION}"),' if stops_older and first else "",
            "table": TABLE if first else "",
            "db_default": "" if stops_older else f', db_default="{OLD}"',
        }
        (migrations / f"{name}.py").write_text(MIGRATION.format(**words))
        with (tree / "advisor" / app / "models.py").open("a") as models:
            models.write(MODELS.format(**words) + (BROUGHT if first else ""))
    return tree


def keep_compiled(tree: Path) -> None:
    """Give the copies what Python has compiled of their sources: else each process compiles the whole product itself.

    The copy of a source has its time and its size, by which Python knows it; what is changed later is compiled again.
    """
    for path in tree.rglob("*.py"):
        compiled, copy = (Path(cache_from_source(str(one))) for one in (ROOT / path.relative_to(tree), path))
        if compiled.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(compiled, copy)
