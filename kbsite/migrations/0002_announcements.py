"""Announce what pages follow and what ends streams; ``transcripts.core.announcements`` listens.

PostgreSQL sends equal notifications of one transaction once, and none of a transaction that fails.
"""

from django.conf import settings
from django.db import migrations

FUNCTION = """
CREATE FUNCTION cuebase_announce() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('cuebase', TG_ARGV[0]);
    RETURN NULL;
END $$
"""
TRIGGER = """
CREATE TRIGGER announce_{name} AFTER {event} ON {table} FOR EACH ROW {condition}
EXECUTE FUNCTION cuebase_announce('{topic}')
"""
CHANGED = "WHEN (OLD.* IS DISTINCT FROM NEW.*)"
# A worker gives a sign of life every few seconds; its return is news.
RETURNED = "WHEN (NEW.seen_at > OLD.seen_at + interval '45 seconds')"

# Topic, table, event and condition.
TRIGGERS = [
    *(
        (topic, table, event, CHANGED if event == "UPDATE" else "")
        for topic, table in (
            ("jobs", "transcripts_job"),
            ("jobs", "transcripts_youtubegate"),
            ("sources", "citations_source"),
            ("access", "transcripts_membership"),
        )
        for event in ("INSERT OR DELETE", "UPDATE")
    ),
    ("jobs", "transcripts_workerpulse", "INSERT", ""),
    ("jobs", "transcripts_workerpulse", "UPDATE", RETURNED),
    ("access", "kbsite_apitoken_collections", "INSERT OR DELETE", ""),
    ("access", "kbsite_apitoken", "DELETE OR UPDATE OF revoked_at, expires_at, limited", ""),
    ("access", "auth_user", "DELETE OR UPDATE OF is_active, is_superuser, password", ""),
    ("access", "django_session", "DELETE", ""),
]


def sentences():
    yield FUNCTION
    for topic, table, event, condition in TRIGGERS:
        name = "change" if condition else "row"
        yield TRIGGER.format(
            name=name, topic=topic, table=table, event=event, condition=condition
        )


class Migration(migrations.Migration):

    dependencies = [
        ("kbsite", "0001_initial"),
        ("transcripts", "0007_added_by"),
        ("citations", "0021_lanes"),
        ("sessions", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(
            list(sentences()), "DROP FUNCTION IF EXISTS cuebase_announce() CASCADE"
        )
    ]
