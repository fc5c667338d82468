from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("citations", "0015_one_citation")]

    operations = [
        migrations.DeleteModel("Quotation"),
        migrations.RenameModel("Happening", "LectureEvent"),
        migrations.AlterField(
            "lectureevent",
            "session",
            models.ForeignKey(
                "citations.lecturesession",
                on_delete=models.CASCADE,
                related_name="events",
            ),
        ),
        migrations.RemoveConstraint("lectureevent", "happening_once"),
        migrations.AddConstraint(
            "lectureevent",
            models.UniqueConstraint(fields=("session", "number"), name="lecture_event_once"),
        ),
        migrations.RenameField("chunk", "place", "position"),
        migrations.RenameField("source", "cut", "chunking"),
        migrations.RenameField("source", "contexts_of", "contexts_digest"),
        migrations.RenameField("embeddingspace", "farthest", "max_distance"),
        migrations.RenameField("topic", "built", "size_at_rebuild"),
        migrations.RenameField("lexblock", "n", "count"),
        migrations.RenameField("lexblock", "sky", "skyline"),
    ]
