"""Call the stages of windows what docs/live.md calls them."""

from django.db import migrations

# The name of a stage, and its new one.
RENAME = """
    UPDATE citations_window
    SET stages = stages - '{0}' || jsonb_build_object('{1}', stages -> '{0}')
    WHERE stages ? '{0}'
"""
NAMES = {"reach": "resolve", "sense": "embed_speech"}


class Migration(migrations.Migration):
    dependencies = (("citations", "0057_recordings"),)

    operations = tuple(
        migrations.RunSQL(RENAME.format(old, new), RENAME.format(new, old))
        for old, new in NAMES.items()
    )
