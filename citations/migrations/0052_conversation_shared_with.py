from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def share_with_their_collections(apps: Any, schema_editor: Any) -> None:
    rows = apps.get_model("citations", "Conversation").objects.filter(is_shared=True)
    rows.update(shared_with=models.F("collection"))


def tell_what_is_shared(apps: Any, schema_editor: Any) -> None:
    """Go back, where only a conversation about a collection can be shared."""
    rows = apps.get_model("citations", "Conversation").objects.exclude(collection=None)
    rows.exclude(shared_with=None).update(is_shared=True)


class Migration(migrations.Migration):
    dependencies = [
        ("citations", "0051_opened_sources"),
        ("transcripts", "0019_added_full_stops"),
    ]

    operations = [
        migrations.AddField(
            "conversation",
            "shared_with",
            models.ForeignKey(
                blank=True,
                help_text="Whose readers read it.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="shared_conversations",
                to="transcripts.collection",
            ),
        ),
        migrations.RunPython(share_with_their_collections, tell_what_is_shared),
        migrations.RemoveField("conversation", "is_shared"),
        migrations.AddConstraint(
            "conversation",
            models.CheckConstraint(
                condition=models.Q(
                    ("collection", None),
                    ("shared_with", None),
                    ("shared_with", models.F("collection")),
                    _connector="OR",
                ),
                name="conversation_shared_within",
            ),
        ),
    ]
