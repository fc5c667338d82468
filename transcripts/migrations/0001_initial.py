"""Videos, transcripts, jobs, feeds, members and the audit trail, and an order of the alphabet."""

import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from transcripts.core.table_creation import CreateModels

ALPHABET = r"""
CREATE FUNCTION cuebase_alphabet(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT regexp_replace(
        regexp_replace(
            lower(replace(
                CASE
                    WHEN octet_length(value) = char_length(value) THEN value
                    ELSE regexp_replace(normalize(value, NFD), '[\u0300-\u036f]', '', 'g')
                END,
                'ß', 'ss'
            )),
            '([0-9]+)', '000000000\1', 'g'
        ),
        '[0-9]*([0-9]{10})', '\1', 'g'
    )
$$
"""


class Migration(migrations.Migration):

    initial = True

    # Migrations of packages come first: each change of a table is slower the more tables there are.
    dependencies = [
        ('mfa', '0003_authenticator_type_uniq'),
        ('oauth2_provider', '0022_refreshtoken_token_family_index'),
        ('socialaccount', '0006_alter_socialaccount_extra_data'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(ALPHABET, "DROP FUNCTION IF EXISTS cuebase_alphabet(text)"),
        CreateModels([
            migrations.CreateModel(
                name='AuditEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField(auto_now_add=True, db_index=True, verbose_name='time')),
                    ('door', models.CharField(help_text='web, admin, rest, mcp, kb or server.', max_length=10)),
                    ('actor', models.CharField(blank=True, help_text='The user; at kb, the account.', max_length=150)),
                    ('token', models.CharField(blank=True, help_text='How it begins.', max_length=12)),
                    ('address', models.GenericIPAddressField(blank=True, null=True)),
                    ('action', models.CharField(choices=[('add', 'added'), ('change', 'changed'), ('delete', 'deleted'), ('export', 'exported'), ('revoke', 'revoked'), ('sign_in', 'signed in'), ('refuse', 'was refused'), ('restore', 'restored'), ('migrate', 'migrated')], max_length=10)),
                    ('kind', models.CharField(max_length=30)),
                    ('thing', models.CharField(blank=True, help_text='Its id or its key.', max_length=200)),
                    ('collection', models.CharField(blank=True, help_text='Its slug.', max_length=60)),
                    ('details', models.JSONField(blank=True, default=dict)),
                ],
                options={
                    'verbose_name_plural': 'audit entries',
                    'ordering': ('-pk',),
                },
            ),
            migrations.CreateModel(
                name='Collection',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=120, unique=True)),
                    ('slug', models.SlugField(max_length=60, unique=True)),
                    ('description', models.CharField(blank=True, db_default='', help_text='What it is about, for its readers.', max_length=1000)),
                    ('allows_links', models.BooleanField(db_default=False, default=False, help_text='Editors may share passages with people without an account.')),
                    ('listening', models.CharField(blank=True, choices=[('never', 'never'), ('ask', 'if somebody asks for it'), ('always', 'always')], db_default='', help_text='Whether its recordings without captions are listened to; empty: as LISTEN says.', max_length=6)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('members', models.ManyToManyField(related_name='collections', through='transcripts.Membership', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': (django.db.models.functions.comparison.Collate(models.Func('name', function='cuebase_alphabet', output_field=models.TextField()), 'C'), 'pk'),
                    'constraints': [models.CheckConstraint(condition=models.Q(('listening__in', ['', 'never', 'ask', 'always'])), name='collection_listening')],
                },
            ),
            migrations.CreateModel(
                name='Membership',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='transcripts.collection')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                    ('role', models.CharField(choices=[('viewer', 'viewer'), ('editor', 'editor'), ('owner', 'owner')], default='viewer', max_length=10)),
                ],
                options={
                    'ordering': ('collection', 'user'),
                    'constraints': [models.UniqueConstraint(fields=('collection', 'user'), name='membership_once'), models.CheckConstraint(condition=models.Q(('role__in', ['viewer', 'editor', 'owner'])), name='membership_role')],
                },
            ),
            migrations.CreateModel(
                name='Feed',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='feeds', to='transcripts.collection')),
                    ('kind', models.CharField(choices=[('playlist', 'playlist'), ('channel', 'channel')], max_length=10)),
                    ('youtube_id', models.CharField(max_length=100)),
                    ('title', models.CharField(blank=True, max_length=300)),
                    ('newest', models.PositiveIntegerField(blank=True, help_text='Add only the newest N videos; empty: all.', null=True)),
                    ('every_hours', models.PositiveIntegerField(blank=True, help_text='Hours between checks for new videos; empty: check only on request.', null=True)),
                    ('last_synced_at', models.DateTimeField(blank=True, null=True)),
                    ('new_count', models.PositiveIntegerField(blank=True, help_text='Videos that were new when it was last read.', null=True)),
                    ('next_sync_at', models.DateTimeField(blank=True, db_index=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': (django.db.models.functions.comparison.Collate(models.Func('title', function='cuebase_alphabet', output_field=models.TextField()), 'C'), 'youtube_id'),
                    'constraints': [models.UniqueConstraint(fields=('collection', 'youtube_id'), name='feed_once_a_collection'), models.CheckConstraint(condition=models.Q(('kind__in', ['playlist', 'channel'])), name='feed_kind')],
                },
            ),
            migrations.CreateModel(
                name='FeedEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('feed', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='transcripts.feed')),
                    ('youtube_id', models.CharField(db_index=True, max_length=11)),
                    ('position', models.PositiveIntegerField(help_text="In the order of YouTube's list.")),
                    ('title', models.CharField(blank=True, max_length=300)),
                    ('refusal', models.CharField(blank=True, help_text='Why YouTube does not show it, such as “private”.', max_length=200)),
                    ('seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), help_text='When it was first in the list.')),
                ],
                options={
                    'verbose_name_plural': 'feed entries',
                    'ordering': ('feed', 'position', 'pk'),
                    'indexes': [models.Index(fields=['feed', 'position', 'id'], name='feed_entry_order')],
                    'constraints': [models.UniqueConstraint(fields=('feed', 'youtube_id'), name='feed_entry_once')],
                },
            ),
            migrations.CreateModel(
                name='Video',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('deletion', models.UUIDField(blank=True, editable=False, help_text='Of the deletion that hides it for now.', null=True)),
                    ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='videos', to='transcripts.collection')),
                    ('key', models.CharField(max_length=200, verbose_name='id')),
                    ('youtube_id', models.CharField(blank=True, db_index=True, max_length=11)),
                    ('title', models.CharField(max_length=300)),
                    ('channel', models.CharField(blank=True, max_length=200)),
                    ('channel_id', models.CharField(blank=True, max_length=64)),
                    ('description', models.TextField(blank=True)),
                    ('duration', models.PositiveIntegerField(default=0, verbose_name='duration (ms)')),
                    ('published_at', models.DateTimeField(blank=True, null=True)),
                    ('chapters', models.JSONField(blank=True, default=list, help_text='[[start in ms, title], …]')),
                    ('tags', models.JSONField(blank=True, default=list)),
                    ('edited', models.JSONField(blank=True, default=list, help_text='Fields that a person changed: fetching keeps them.')),
                    ('languages', models.JSONField(blank=True, default=list, help_text='Languages that YouTube has captions in.')),
                    ('sound', models.URLField(blank=True, db_default='', help_text='Where the sound of an episode is.', max_length=2048)),
                    ('partial', models.BooleanField(default=False, help_text='Fetched while live: the end is missing.', verbose_name='incomplete')),
                    ('added_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'verbose_name': 'recording',
                    'ordering': ('-created_at', '-pk'),
                    'indexes': [models.Index(fields=['collection', '-created_at', '-id'], name='video_newest'), models.Index(django.db.models.functions.text.Upper('title'), name='video_title'), models.Index(condition=models.Q(('deletion__isnull', False)), fields=['deletion'], name='video_deletion')],
                    'constraints': [models.UniqueConstraint(fields=('collection', 'key'), name='video_once_a_collection')],
                },
            ),
            migrations.CreateModel(
                name='Thumbnail',
                fields=[
                    ('video', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='thumbnail', serialize=False, to='transcripts.video', verbose_name='recording')),
                    ('data', models.BinaryField()),
                    ('content_type', models.CharField(max_length=30)),
                ],
            ),
            migrations.CreateModel(
                name='Transcript',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('video', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='transcripts', to='transcripts.video', verbose_name='recording')),
                    ('language', models.CharField(blank=True, max_length=35)),
                    ('origin', models.CharField(choices=[('manual', 'manual'), ('upload', 'upload'), ('auto', 'automatic'), ('heard', 'heard'), ('translated', 'machine-translated')], max_length=12)),
                    ('cues', models.JSONField(help_text='[[start, end, text], …]')),
                    ('word_times', models.JSONField(blank=True, help_text='Per cue null or [[start, word], …].', null=True)),
                    ('digest', models.CharField(help_text='SHA-256 of the cues.', max_length=64)),
                    ('original_digest', models.CharField(blank=True, help_text='SHA-256 of the cues as they were read; empty if they are stored like that.', max_length=64)),
                    ('has_added_stops', models.BooleanField(default=False, help_text='Full stops were added to captions with few or none.')),
                    ('speaker_names', models.JSONField(blank=True, default=dict, help_text='{name in the captions: name that a person gave}')),
                    ('made_by', models.CharField(blank=True, help_text='The model that recognised the speech.', max_length=120)),
                    ('made_at', models.DateTimeField(blank=True, help_text='When it did.', null=True)),
                    ('cue_count', models.PositiveIntegerField()),
                    ('characters', models.PositiveIntegerField()),
                    ('duration', models.PositiveIntegerField(verbose_name='duration (ms)')),
                    ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ],
                options={
                    'ordering': ('video', 'language', 'origin'),
                    'indexes': [models.Index(django.db.models.functions.comparison.Coalesce(django.db.models.functions.comparison.NullIf('original_digest', models.Value('')), 'digest'), name='transcript_read_digest')],
                    'constraints': [models.UniqueConstraint(fields=('video', 'language', 'origin'), name='transcript_once'), models.CheckConstraint(condition=models.Q(('origin__in', ['manual', 'upload', 'auto', 'heard', 'translated'])), name='transcript_origin')],
                },
            ),
            migrations.CreateModel(
                name='TranscriptIndex',
                fields=[
                    ('transcript', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='index', serialize=False, to='transcripts.transcript')),
                    ('segment_seconds', models.PositiveIntegerField(verbose_name='seconds of a segment')),
                    ('tokenizer_version', models.PositiveIntegerField()),
                    ('digest', models.CharField(max_length=64)),
                    ('data', models.BinaryField()),
                ],
                options={
                    'verbose_name_plural': 'transcript indexes',
                },
            ),
            migrations.CreateModel(
                name='RawCaptions',
                fields=[
                    ('transcript', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='raw', serialize=False, to='transcripts.transcript')),
                    ('name', models.CharField(max_length=300)),
                    ('data', models.BinaryField()),
                ],
                options={
                    'verbose_name_plural': 'raw captions',
                },
            ),
            migrations.CreateModel(
                name='Job',
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
                    ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='transcripts.collection')),
                    ('kind', models.CharField(choices=[('video', 'fetch a video'), ('feed', 'read a playlist or channel'), ('files', 'import files'), ('page', 'fetch a web page'), ('listen', 'listen to a recording')], max_length=10)),
                    ('target', models.CharField(help_text='The id of the video, playlist or channel, an address, or a name for the files.', max_length=2048)),
                    ('language', models.CharField(blank=True, max_length=35)),
                    ('translated', models.BooleanField(default=False, help_text='Take a machine translation where the language has no captions.')),
                    ('listens', models.CharField(blank=True, choices=[('missing', 'if it has no captions'), ('now', 'whatever captions it has')], db_default='', help_text='Whether a video is listened to.', max_length=7)),
                    ('tags', models.JSONField(blank=True, default=list)),
                    ('feed', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='transcripts.feed')),
                    ('video', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='jobs', to='transcripts.video')),
                    ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('state', models.CharField(choices=[('queued', 'queued'), ('running', 'running'), ('done', 'done'), ('failed', 'failed')], default='queued', max_length=10)),
                    ('step', models.CharField(blank=True, max_length=60)),
                    ('priority', models.SmallIntegerField(default=0, help_text='Higher goes first.')),
                    ('problems', models.JSONField(blank=True, default=list, help_text='Parts that failed.')),
                    ('read', models.JSONField(blank=True, default=list, help_text='What became of files: item, joined, sound or video.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('started_at', models.DateTimeField(blank=True, null=True)),
                    ('finished_at', models.DateTimeField(blank=True, null=True)),
                    ('refused_at', models.DateTimeField(blank=True, help_text='When YouTube last refused it and the gate closed.', null=True)),
                ],
                options={
                    'ordering': ('-pk',),
                    'indexes': [models.Index(condition=models.Q(('state', 'queued')), fields=['-priority', 'id'], name='job_queue'), models.Index(fields=['collection', 'created_by', 'kind', 'priority', 'started_at'], name='job_lane')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed'])), name='job_state'), models.CheckConstraint(condition=models.Q(('kind__in', ['video', 'feed', 'files', 'page', 'listen'])), name='job_kind'), models.UniqueConstraint(condition=models.Q(('state__in', ['queued', 'running']), models.Q(('kind__in', ['files', 'listen']), _negated=True)), fields=('collection', 'kind', 'target', 'language', 'translated'), name='job_unfinished_once')],
                },
            ),
            migrations.CreateModel(
                name='JobFile',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='transcripts.job')),
                    ('name', models.CharField(max_length=300)),
                    ('data', models.BinaryField()),
                ],
                options={
                    'ordering': ('pk',),
                },
            ),
            migrations.CreateModel(
                name='MediaFile',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(help_text='The original file name.', max_length=300)),
                    ('media_type', models.CharField(max_length=30)),
                    ('size', models.PositiveBigIntegerField(help_text='Bytes.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('video', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='media', to='transcripts.video', verbose_name='recording')),
                    ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='media', to='transcripts.job')),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('video__isnull', False), ('job__isnull', False), _connector='XOR'), name='media_of_something')],
                },
            ),
            migrations.CreateModel(
                name='MediaPart',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('ordinal', models.PositiveIntegerField()),
                    ('data', models.BinaryField()),
                    ('media', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='transcripts.mediafile')),
                ],
                options={
                    'ordering': ('media_id', 'ordinal'),
                    'constraints': [models.UniqueConstraint(fields=('media', 'ordinal'), name='media_part_once')],
                },
            ),
            migrations.CreateModel(
                name='HeardPart',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('start', models.PositiveIntegerField(verbose_name='start (ms)')),
                    ('end', models.PositiveIntegerField(verbose_name='end (ms)')),
                    ('language', models.CharField(blank=True, max_length=35)),
                    ('made_by', models.CharField(help_text='The model that recognised the speech.', max_length=120)),
                    ('seconds', models.FloatField(help_text='How long that took.')),
                    ('cues', models.JSONField(help_text='[[start, end, text], …]')),
                    ('word_times', models.JSONField(help_text='Per cue null or [[start, word], …].')),
                    ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='heard_parts', to='transcripts.job')),
                ],
                options={
                    'ordering': ('job_id', 'start'),
                    'constraints': [models.UniqueConstraint(fields=('job', 'start'), name='heard_part_once'), models.CheckConstraint(condition=models.Q(('end__gte', models.F('start'))), name='heard_part_times')],
                },
            ),
            migrations.CreateModel(
                name='WorkerPulse',
                fields=[
                    ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                    ('seen_at', models.DateTimeField()),
                    ('schedule_ran_at', models.DateTimeField(blank=True, null=True)),
                ],
            ),
            migrations.CreateModel(
                name='YouTubeGate',
                fields=[
                    ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                    ('next_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                    ('closed_until', models.DateTimeField(blank=True, null=True)),
                    ('refusals', models.PositiveSmallIntegerField(default=0)),
                    ('unanswered', models.PositiveSmallIntegerField(default=0, help_text='Requests in a row that got no answer.')),
                    ('reason_code', models.CharField(blank=True, max_length=40, verbose_name='reason')),
                    ('reason', models.TextField(blank=True)),
                    ('last_success_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'verbose_name': 'YouTube gate',
                    'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='gate_one_row')],
                },
            ),
        ]),
    ]
