"""Verdicts, plans, findings and figures are a sixth as large packed. What is stored stays as text until it goes."""

from django.db import migrations

from advisor.core.migration_operations import PackColumns, StopOlderVersions
from advisor.core.packed_json import PackedJSONField


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0001_initial"),
        ("audits", "0008_capture_kinds"),
    ]

    operations = [
        StopOlderVersions("0.9.0"),
        PackColumns(
            "audit",
            {
                "verdicts": PackedJSONField(use="audits", default=list),
                "plan": PackedJSONField(use="audits", default=dict),
                "account": PackedJSONField(use="audits", default=list),
                "summary": PackedJSONField(use="audits", default=dict),
            },
        ),
        PackColumns(
            "capture",
            {
                "kinds": PackedJSONField(use="audits", null=True),
                "figures": PackedJSONField(use="audits", default=list),
            },
        ),
        PackColumns("finding", {"data": PackedJSONField(use="findings")}),
    ]
