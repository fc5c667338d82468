"""Write down what webhooks may tell, in the transaction of the change, while there is a webhook."""

from django.db import migrations

FUNCTION = """
CREATE FUNCTION cuebase_webhook_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM kbsite_webhook WHERE is_on) THEN
        INSERT INTO kbsite_webhookevent (kind, thing)
        VALUES (TG_ARGV[0] || '.' || CASE TG_OP WHEN 'INSERT' THEN 'added' ELSE NEW.state END,
                NEW.id);
    END IF;
    RETURN NULL;
END $$
"""
REACHED = "AFTER UPDATE OF state ON {table} FOR EACH ROW WHEN (OLD.state <> NEW.state AND NEW.state IN {states})"
TRIGGER = "CREATE TRIGGER {name} {when} EXECUTE FUNCTION cuebase_webhook_event('{kind}')"
TRIGGERS = [
    ("webhook_job", "job", REACHED.format(table="transcripts_job", states="('done', 'failed')")),
    ("webhook_new_source", "source", "AFTER INSERT ON citations_source FOR EACH ROW"),
    (
        "webhook_source",
        "source",
        REACHED.format(table="citations_source", states="('ready', 'failed')"),
    ),
]


class Migration(migrations.Migration):

    dependencies = [
        ("kbsite", "0005_webhooks"),
        ("transcripts", "0007_added_by"),
        ("citations", "0021_lanes"),
    ]

    operations = [
        migrations.RunSQL(
            [
                FUNCTION,
                *(TRIGGER.format(name=name, kind=kind, when=when) for name, kind, when in TRIGGERS),
            ],
            "DROP FUNCTION IF EXISTS cuebase_webhook_event() CASCADE",
        )
    ]
