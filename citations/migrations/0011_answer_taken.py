import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("citations", "0010_notebook_deletion")]

    operations = [
        migrations.AddField(
            model_name="answer",
            name="is_taken",
            field=models.BooleanField(default=False, help_text="Whether somebody answers it just now: nobody else begins."),
        ),
        migrations.AddField(
            model_name="answer",
            name="active_at",
            field=models.DateTimeField(default=django.utils.timezone.now, help_text="The last sign of life of whoever answers it."),
        ),
    ]
