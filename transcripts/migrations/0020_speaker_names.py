from django.db import migrations, models


def tell_apart(apps, schema_editor):
    """Until now, other cues than those that were read had full stops."""
    transcripts = apps.get_model("transcripts", "Transcript").objects
    transcripts.exclude(original_digest="").update(has_added_stops=True)


class Migration(migrations.Migration):
    dependencies = [("transcripts", "0019_added_full_stops")]

    operations = [
        migrations.AddField(
            "transcript",
            "has_added_stops",
            models.BooleanField(
                default=False, help_text="Full stops were added to captions with few or none."
            ),
        ),
        migrations.AddField(
            "transcript",
            "speaker_names",
            models.JSONField(
                default=dict,
                blank=True,
                help_text="{name in the captions: name that a person gave}",
            ),
        ),
        migrations.AlterField(
            "transcript",
            "original_digest",
            models.CharField(
                max_length=64,
                blank=True,
                help_text="SHA-256 of the cues as they were read; empty if they are stored like"
                " that.",
            ),
        ),
        migrations.RunPython(tell_apart, migrations.RunPython.noop),
    ]
