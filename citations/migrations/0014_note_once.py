"""One note of an answer in a collection: of those that were kept twice, the first remains the answer's, the others become notes like any other."""

from typing import Any

from django.db import migrations, models
from django.db.models import Exists, OuterRef


def let_go(apps: Any, schema_editor: Any) -> None:
    """Take the answer from notes that say again what another note says."""
    notes = apps.get_model("citations", "Note").objects.using(schema_editor.connection.alias)
    before = notes.filter(answer=OuterRef("answer"), collection=OuterRef("collection"), pk__lt=OuterRef("pk"))
    notes.filter(Exists(before), answer__isnull=False).update(answer=None)


class Migration(migrations.Migration):
    dependencies = [("citations", "0013_deleted_by_the_database")]

    operations = [
        migrations.RunPython(let_go, migrations.RunPython.noop, elidable=True),
        migrations.AddConstraint("note", models.UniqueConstraint(fields=("answer", "collection"), name="note_once")),
    ]
