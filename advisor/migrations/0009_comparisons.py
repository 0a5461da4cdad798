from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("advisor", "0008_sources"),
    ]

    operations = [
        migrations.AddField(
            model_name="audit",
            name="comparisons",
            field=models.JSONField(default=list),
        ),
    ]
