"""How far the primary's log was when somebody last wrote: from there on, replicas answer them."""

from django.conf import settings
from django.db import models


class WritePosition(models.Model):
    """Where a user's last write ended, by whichever session or token. Only with replicas."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="+"
    )
    position = models.BigIntegerField()  # bytes of the write-ahead log
