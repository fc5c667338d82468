from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("citations", "0006_deletion")]

    operations = [
        migrations.AddField(
            model_name="window",
            name="taken_at",
            field=models.DateTimeField(blank=True, help_text="When somebody began to cite it, who may have died since.", null=True),
        ),
    ]
