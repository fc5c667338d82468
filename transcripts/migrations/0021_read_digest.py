from django.db import migrations, models
from django.db.models.functions import Coalesce, NullIf


class Migration(migrations.Migration):
    dependencies = [("transcripts", "0020_speaker_names")]

    operations = [
        migrations.AddIndex(
            "transcript",
            models.Index(
                Coalesce(NullIf("original_digest", models.Value("")), "digest"),
                name="transcript_read_digest",
            ),
        ),
    ]
