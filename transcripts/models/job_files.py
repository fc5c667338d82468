"""Files that wait for their job."""

from django.db import models

from transcripts.models.jobs import Job


class JobFile(models.Model):
    """A file to import. The transaction that stores its transcript deletes it."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=300)
    data = models.BinaryField()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.name
