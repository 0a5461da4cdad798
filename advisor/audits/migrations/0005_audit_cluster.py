from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audits", "0004_account"),
    ]

    operations = [
        migrations.AddField(
            model_name="audit",
            name="cluster",
            field=models.JSONField(db_default={}, default=dict),
        ),
    ]
