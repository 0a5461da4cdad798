from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("advisor", "0006_clock"),
    ]

    operations = [
        migrations.AddField(
            model_name="system",
            name="former",
            field=models.JSONField(blank=True, default=list),
        ),
    ]
