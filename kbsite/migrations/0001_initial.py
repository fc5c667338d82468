"""Tokens, keyed requests and webhooks, and triggers that announce what has changed."""

import django.db.models.deletion
import django.db.models.functions.datetime
import uuid
from django.conf import settings
from django.db import migrations, models

from transcripts.core.table_creation import CreateModels


# Announce what pages follow and what ends streams; ``transcripts.core.announcements`` listens.
# PostgreSQL sends equal notifications of one transaction once, and none of one that fails.
ANNOUNCE = """
CREATE FUNCTION cuebase_announce() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('cuebase', TG_ARGV[0]);
    RETURN NULL;
END $$
"""
ANNOUNCEMENT = """
CREATE TRIGGER announce_{name} AFTER {event} ON {table} FOR EACH ROW {condition}
EXECUTE FUNCTION cuebase_announce('{topic}')
"""
CHANGED = "WHEN (OLD.* IS DISTINCT FROM NEW.*)"
# A worker gives a sign of life every few seconds; its return is news.
RETURNED = "WHEN (NEW.seen_at > OLD.seen_at + interval '45 seconds')"

# Topic, table, event and condition.
ANNOUNCEMENTS = [
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


def announcements():
    yield ANNOUNCE
    for topic, table, event, condition in ANNOUNCEMENTS:
        name = "change" if condition else "row"
        yield ANNOUNCEMENT.format(
            name=name, topic=topic, table=table, event=event, condition=condition
        )


# Write down what webhooks may tell, in the transaction of the change, while there is a webhook.
WEBHOOK_EVENT = """
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
WEBHOOK_TRIGGER = "CREATE TRIGGER {name} {when} EXECUTE FUNCTION cuebase_webhook_event('{kind}')"
WEBHOOK_TRIGGERS = [
    ("webhook_job", "job", REACHED.format(table="transcripts_job", states="('done', 'failed')")),
    ("webhook_new_source", "source", "AFTER INSERT ON citations_source FOR EACH ROW"),
    (
        "webhook_source",
        "source",
        REACHED.format(table="citations_source", states="('ready', 'failed')"),
    ),
]


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('citations', '0001_initial'),
        ('sessions', '0001_initial'),
        ('transcripts', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='ApiToken',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                    ('name', models.CharField(max_length=80)),
                    ('hint', models.CharField(help_text='How the token begins, to tell it from others.', max_length=12)),
                    ('digest', models.CharField(help_text="SHA-256 of the token; of a connection's authorization code.", max_length=64, unique=True)),
                    ('application', models.ForeignKey(blank=True, editable=False, help_text='The application that a user has connected by OAuth; none: a personal token.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='connections', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('family', models.UUIDField(editable=False, help_text='Of the OAuth tokens of a connection.', null=True, unique=True)),
                    ('access', models.CharField(choices=[('read', 'read, search and ask'), ('write', 'also add, change and delete sources, notes, highlights, conversations and lectures'), ('manage', 'also manage members, shared links and webhooks, and delete collections; people it lets in stay when it ends')], default='read', max_length=6, verbose_name='may')),
                    ('limited', models.BooleanField(default=False, help_text='Only the collections named; deleting one of them never widens the token.', verbose_name='limited to collections')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('last_used_at', models.DateTimeField(blank=True, null=True)),
                    ('expires_at', models.DateTimeField(blank=True, null=True)),
                    ('revoked_at', models.DateTimeField(blank=True, null=True)),
                    ('collections', models.ManyToManyField(blank=True, help_text='None: all that the user may see.', related_name='+', to='transcripts.collection')),
                ],
                options={
                    'verbose_name': 'API token',
                    'ordering': ('-created_at',),
                    'constraints': [models.CheckConstraint(condition=models.Q(('access__in', ['read', 'write', 'manage'])), name='token_access')],
                },
            ),
            migrations.CreateModel(
                name='SignInLink',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('expires_at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='KeyedRequest',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('holder', models.UUIDField(blank=True, editable=False, null=True)),
                    ('active_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), help_text='The last sign of life of the holder, or the creation.')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('token', models.ForeignKey(help_text='None: a session', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kbsite.apitoken')),
                    ('key', models.CharField(max_length=255)),
                    ('fingerprint', models.CharField(help_text='HMAC of the request', max_length=64)),
                    ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True)),
                    ('begun', models.UUIDField(help_text='The long work that it has queued: an answer', null=True)),
                    ('status', models.PositiveSmallIntegerField(help_text='None: there is no answer yet', null=True)),
                    ('headers', models.JSONField(default=dict)),
                    ('content', models.BinaryField(default=bytes, help_text='Encrypted: some answers hold a secret that is shown once')),
                    ('size', models.PositiveIntegerField(default=0)),
                    ('readable', models.JSONField(default=list, help_text='Collections that its sender could read')),
                    ('writable', models.JSONField(default=list)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('user', 'token', 'key'), name='keyed_request_once', nulls_distinct=False)],
                },
            ),
            migrations.CreateModel(
                name='WritePosition',
                fields=[
                    ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to=settings.AUTH_USER_MODEL)),
                    ('position', models.BigIntegerField()),
                ],
            ),
            migrations.CreateModel(
                name='Webhook',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to=settings.AUTH_USER_MODEL)),
                    ('token', models.ForeignKey(help_text='What made it', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kbsite.apitoken')),
                    ('url', models.CharField(max_length=2000)),
                    ('description', models.CharField(blank=True, max_length=200)),
                    ('events', models.JSONField(default=list)),
                    ('generation', models.PositiveIntegerField(default=1, help_text='Of its secret')),
                    ('rotated_at', models.DateTimeField(null=True)),
                    ('is_on', models.BooleanField(default=True, verbose_name='switched on')),
                    ('off_reason', models.TextField(blank=True)),
                    ('failing_since', models.DateTimeField(null=True)),
                    ('succeeded_at', models.DateTimeField(null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ('-pk',),
                },
            ),
            migrations.CreateModel(
                name='WebhookEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=20)),
                    ('thing', models.BigIntegerField(help_text='The primary key of the job or source')),
                    ('happened_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ],
            ),
            migrations.CreateModel(
                name='WebhookDelivery',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('crashes', models.PositiveSmallIntegerField(default=0)),
                    ('done', models.PositiveIntegerField(default=0)),
                    ('total', models.PositiveIntegerField(default=0)),
                    ('error_code', models.CharField(blank=True, max_length=40, verbose_name='error')),
                    ('error', models.TextField(blank=True)),
                    ('hint', models.TextField(blank=True)),
                    ('run_after', models.DateTimeField(blank=True, null=True)),
                    ('sent_at', models.DateTimeField(blank=True, null=True)),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='kbsite.webhook')),
                    ('kind', models.CharField(max_length=20)),
                    ('thing', models.BigIntegerField(null=True)),
                    ('happened_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                    ('state', models.CharField(choices=[('queued', 'waiting'), ('done', 'delivered'), ('failed', 'failed')], default='queued', max_length=10)),
                    ('status', models.PositiveSmallIntegerField(help_text='Of the last answer', null=True)),
                    ('finished_at', models.DateTimeField(null=True)),
                ],
                options={
                    'verbose_name_plural': 'webhook deliveries',
                    'ordering': ('-pk',),
                    'indexes': [models.Index(condition=models.Q(('state', 'queued')), fields=['webhook', 'id'], name='delivery_waiting')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ('queued', 'done', 'failed'))), name='delivery_state')],
                },
            ),
        ]),
        migrations.RunSQL(
            [*announcements()], "DROP FUNCTION IF EXISTS cuebase_announce() CASCADE"
        ),
        migrations.RunSQL(
            [
                WEBHOOK_EVENT,
                *(
                    WEBHOOK_TRIGGER.format(name=name, kind=kind, when=when)
                    for name, kind, when in WEBHOOK_TRIGGERS
                ),
            ],
            "DROP FUNCTION IF EXISTS cuebase_webhook_event() CASCADE",
        ),
    ]
