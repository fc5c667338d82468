from django.db import migrations, models

FILL = """
UPDATE citations_lecturesession SET names_sources = true
WHERE id IN (SELECT lecturesession_id FROM citations_lecturesession_sources)
"""


class Migration(migrations.Migration):
    dependencies = [("citations", "0007_window_taken_at")]

    operations = [
        migrations.AddField(
            model_name="lecturesession",
            name="names_sources",
            field=models.BooleanField(default=False, help_text="It cites nothing else, also when all of them are deleted."),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
