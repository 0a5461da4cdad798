from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0005_audit_cluster"),
    ]

    operations = [
        migrations.AddField(
            model_name="audit",
            name="bar",
            field=models.JSONField(db_default={}, default=dict),
        ),
        migrations.AddField(
            model_name="audit",
            name="capacity",
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="audit",
            name="waiting_tasks",
            field=models.FloatField(blank=True, null=True),
        ),
    ]
