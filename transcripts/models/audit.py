"""The audit trail."""

from django.db import models


class AuditEntry(models.Model):
    """Who did what, when, by which door. It names things by ids, and contains no texts."""

    class Action(models.TextChoices):
        ADD = "add", "added"
        CHANGE = "change", "changed"
        DELETE = "delete", "deleted"
        EXPORT = "export", "exported"
        REVOKE = "revoke", "revoked"
        SIGN_IN = "sign_in", "signed in"
        REFUSE = "refuse", "was refused"
        RESTORE = "restore", "restored"
        MIGRATE = "migrate", "migrated"

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    door = models.CharField(max_length=10, help_text="web, admin, rest, mcp, kb or server.")
    actor = models.CharField(max_length=150, blank=True, help_text="The user; at kb, the account.")
    token = models.CharField(max_length=12, blank=True, help_text="How it begins.")
    address = models.GenericIPAddressField(null=True, blank=True)
    action = models.CharField(max_length=10, choices=Action.choices)
    kind = models.CharField(max_length=30)
    thing = models.CharField(max_length=200, blank=True, help_text="Its id or its key.")
    collection = models.CharField(max_length=60, blank=True, help_text="Its slug.")
    details = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.actor or self.door} {self.get_action_display()} {self.kind} {self.thing}"
