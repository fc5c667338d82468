"""Sources and their chunks, both indexes, answers, lectures and notes, and rules of deletion."""

import citations.formats
import django.db.models.constraints
import django.db.models.deletion
import django.db.models.functions.datetime
import pgvector.django.halfvec
import uuid
from django.conf import settings
from django.db import migrations, models
from pgvector.django import VectorExtension

from transcripts.core.table_creation import CreateModels


# Places are taken in runs, in the order of the numbers. What a sequence gives is never given back,
# so that nobody has to wait for another transaction's end; the lock keeps two runs apart for the
# moment that taking one lasts.
TAKE_PLACES = """
CREATE FUNCTION citations_take_places(wanted bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    first bigint;
BEGIN
    PERFORM pg_advisory_lock(PLACES_LOCK);
    BEGIN
        first := nextval('citations_place');
        PERFORM setval('citations_place', first + wanted - 1);
    EXCEPTION WHEN OTHERS OR query_canceled THEN
        PERFORM pg_advisory_unlock(PLACES_LOCK);
        RAISE;
    END;
    PERFORM pg_advisory_unlock(PLACES_LOCK);
    RETURN first;
END
$$
""".replace("PLACES_LOCK", str(0x43554C50))  # "CULP"

# The database deletes what belongs to a row together with it. Django, which collects first and
# deletes then, would not see what is being written at that moment, and the deletion would fail.
RULES = """
DO $$
DECLARE
    rule record;
    foreign_key text;
BEGIN
    FOR rule IN SELECT * FROM (VALUES
        ('citations_answer', 'conversation_id', 'citations_conversation', 'id', 'CASCADE'),
        ('citations_chunk', 'source_id', 'citations_source', 'id', 'CASCADE'),
        ('citations_citation', 'answer_id', 'citations_answer', 'id', 'CASCADE'),
        ('citations_citation', 'chunk_id', 'citations_chunk', 'id', 'SET NULL'),
        ('citations_citation', 'session_id', 'citations_lecturesession', 'id', 'CASCADE'),
        ('citations_citation', 'source_id', 'citations_source', 'id', 'CASCADE'),
        ('citations_citation', 'window_id', 'citations_window', 'id', 'CASCADE'),
        ('citations_conversation', 'collection_id', 'transcripts_collection', 'id', 'CASCADE'),
        ('citations_document', 'source_id', 'citations_source', 'id', 'CASCADE'),
        ('citations_documentpart', 'document_id', 'citations_document', 'source_id', 'CASCADE'),
        ('citations_embedding', 'chunk_id', 'citations_chunk', 'id', 'CASCADE'),
        ('citations_embedding', 'source_id', 'citations_source', 'id', 'CASCADE'),
        ('citations_embedding', 'space_id', 'citations_embeddingspace', 'id', 'CASCADE'),
        ('citations_lectureevent', 'session_id', 'citations_lecturesession', 'id', 'CASCADE'),
        ('citations_lecturesession', 'collection_id', 'transcripts_collection', 'id', 'CASCADE'),
        ('citations_lecturesession_sources', 'lecturesession_id', 'citations_lecturesession', 'id', 'CASCADE'),
        ('citations_lecturesession_sources', 'source_id', 'citations_source', 'id', 'CASCADE'),
        ('citations_lecturesession', 'transcript_id', 'transcripts_transcript', 'id', 'SET NULL'),
        ('citations_lexentry', 'source_id', 'citations_source', 'id', 'SET NULL'),
        ('citations_mark', 'source_id', 'citations_source', 'id', 'CASCADE'),
        ('citations_node', 'parent_id', 'citations_node', 'id', 'CASCADE'),
        ('citations_node', 'source_id', 'citations_source', 'id', 'CASCADE'),
        ('citations_node', 'space_id', 'citations_embeddingspace', 'id', 'SET NULL'),
        ('citations_note', 'answer_id', 'citations_answer', 'id', 'SET NULL'),
        ('citations_note', 'collection_id', 'transcripts_collection', 'id', 'CASCADE'),
        ('citations_page', 'document_id', 'citations_document', 'source_id', 'CASCADE'),
        ('citations_segment', 'session_id', 'citations_lecturesession', 'id', 'CASCADE'),
        ('citations_source', 'collection_id', 'transcripts_collection', 'id', 'CASCADE'),
        ('citations_source', 'transcript_id', 'transcripts_transcript', 'id', 'CASCADE'),
        ('citations_source', 'video_id', 'transcripts_video', 'id', 'CASCADE'),
        ('citations_topic', 'collection_id', 'transcripts_collection', 'id', 'CASCADE'),
        ('citations_topic', 'space_id', 'citations_embeddingspace', 'id', 'CASCADE'),
        ('citations_topicmember', 'node_id', 'citations_node', 'id', 'CASCADE'),
        ('citations_topicmember', 'topic_id', 'citations_topic', 'id', 'CASCADE'),
        ('citations_window', 'session_id', 'citations_lecturesession', 'id', 'CASCADE')
    ) AS rules (tab, col, target, key, action) LOOP
        SELECT conname INTO STRICT foreign_key FROM pg_constraint
        WHERE contype = 'f' AND conrelid = rule.tab::regclass AND conkey = ARRAY[(
            SELECT attnum FROM pg_attribute
            WHERE attrelid = rule.tab::regclass AND attname = rule.col
        )];
        EXECUTE format(
            'ALTER TABLE %I DROP CONSTRAINT %I, ADD CONSTRAINT %I FOREIGN KEY (%I)'
            ' REFERENCES %I (%I) ON DELETE %s DEFERRABLE INITIALLY DEFERRED',
            rule.tab, foreign_key, foreign_key, rule.col, rule.target, rule.key, rule.action
        );
    END LOOP;
END
$$
"""


def add_rules(apps, schema_editor):
    """Run after the foreign keys are made, at the end of the migration."""
    schema_editor.deferred_sql.append(RULES)


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('transcripts', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        VectorExtension(),
        CreateModels([
            migrations.CreateModel(
                name='Conversation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('collection', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='conversations', to='transcripts.collection')),
                    ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='conversations', to=settings.AUTH_USER_MODEL)),
                    ('title', models.CharField(max_length=300)),
                    ('sources', models.JSONField(blank=True, default=list, help_text='Ids of sources; empty: all.')),
                    ('is_pinned', models.BooleanField(default=False, help_text="At the top of its owner's list.")),
                    ('shared_with', models.ForeignKey(blank=True, help_text='Whose readers read it.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='shared_conversations', to='transcripts.collection')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'ordering': ('-updated_at', '-pk'),
                    'indexes': [models.Index(fields=['owner', '-updated_at', '-id'], name='conversation_latest')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('collection', None), ('shared_with', None), ('shared_with', models.F('collection')), _connector='OR'), name='conversation_shared_within')],
                },
            ),
            migrations.CreateModel(
                name='Answer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('holder', models.UUIDField(blank=True, editable=False, null=True)),
                    ('active_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), help_text='The last sign of life of the holder, or the creation.')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='citations.conversation')),
                    ('ordinal', models.PositiveIntegerField()),
                    ('question', models.TextField()),
                    ('full_question', models.TextField(blank=True, help_text='The question as a stand-alone one.')),
                    ('state', models.CharField(choices=[('running', 'being answered'), ('answered', 'answered'), ('partial', 'answered in part'), ('refused', 'not in the sources'), ('help', 'help'), ('failed', 'failed')], default='running', max_length=10)),
                    ('claims', models.JSONField(blank=True, default=list)),
                    ('parts', models.JSONField(blank=True, default=list, help_text='Of several questions: which were answered.')),
                    ('nearest', models.JSONField(blank=True, default=list, help_text='After a refusal: near passages.')),
                    ('unready', models.JSONField(blank=True, default=list, help_text='Sources that were not ready when it was given.')),
                    ('note', models.TextField(blank=True, help_text='The refusal, or a remark for the reader.')),
                    ('error', models.TextField(blank=True)),
                    ('hint', models.TextField(blank=True)),
                    ('confidence', models.FloatField(blank=True, help_text='That the first citation is right.', null=True)),
                    ('model', models.CharField(blank=True, help_text='Empty: extractive.', max_length=200)),
                    ('trace', models.JSONField(blank=True, default=dict, help_text='Queries, passages, verdicts, times.')),
                    ('feedback', models.SmallIntegerField(blank=True, help_text='1: helpful, -1: not.', null=True)),
                    ('milliseconds', models.FloatField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ('conversation_id', 'ordinal'),
                    'constraints': [models.UniqueConstraint(fields=('conversation', 'ordinal'), name='answer_once'), models.CheckConstraint(condition=models.Q(('state__in', ['running', 'answered', 'partial', 'refused', 'help', 'failed'])), name='answer_state'), models.CheckConstraint(condition=models.Q(('feedback__in', (-1, 1)), ('feedback', None), _connector='OR'), name='answer_feedback'), models.CheckConstraint(condition=models.Q(models.Q(('confidence__gte', 0), ('confidence__lte', 1)), ('confidence', None), _connector='OR'), name='answer_confidence')],
                },
            ),
            migrations.CreateModel(
                name='Note',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('deletion', models.UUIDField(blank=True, editable=False, help_text='Of the deletion that hides it for now.', null=True)),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='transcripts.collection')),
                    ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='notes', to=settings.AUTH_USER_MODEL)),
                    ('answer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='notes', to='citations.answer')),
                    ('title', models.CharField(max_length=300)),
                    ('text', models.TextField(help_text='Markdown.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'ordering': ('-updated_at', '-pk'),
                    'indexes': [models.Index(fields=['collection', '-updated_at', '-id'], name='note_latest')],
                    'constraints': [models.UniqueConstraint(fields=('answer', 'collection'), name='note_once')],
                },
            ),
            migrations.CreateModel(
                name='Archive',
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
                    ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='archives', to=settings.AUTH_USER_MODEL)),
                    ('collection', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='archives', to='transcripts.collection')),
                    ('collections', models.JSONField(default=list)),
                    ('sources', models.JSONField(blank=True, default=list, help_text='Primary keys of the only sources; empty: all.')),
                    ('with_media', models.BooleanField(default=False, help_text='Whether it has the audio and video files of recordings.')),
                    ('language', models.CharField(blank=True, help_text='Of its pages; empty: of this installation.', max_length=10)),
                    ('state', models.CharField(choices=[('queued', 'waiting'), ('running', 'being made'), ('done', 'ready'), ('failed', 'failed')], default='queued', max_length=10)),
                    ('size', models.PositiveBigIntegerField(default=0, help_text='Bytes.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ('-pk',),
                    'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed'])), name='archive_state'), models.UniqueConstraint(condition=models.Q(('state__in', ('queued', 'running'))), fields=('owner',), name='archive_unfinished_once')],
                },
            ),
            migrations.CreateModel(
                name='ArchivePart',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('archive', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='citations.archive')),
                    ('ordinal', models.PositiveIntegerField()),
                    ('data', models.BinaryField()),
                ],
                options={
                    'ordering': ('archive_id', 'ordinal'),
                    'constraints': [models.UniqueConstraint(fields=('archive', 'ordinal'), name='archive_part_once')],
                },
            ),
            migrations.CreateModel(
                name='Source',
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
                    ('deletion', models.UUIDField(blank=True, editable=False, help_text='Of the deletion that hides it for now.', null=True)),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='transcripts.collection')),
                    ('kind', models.CharField(choices=citations.formats.kind_choices, max_length=10)),
                    ('video', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='transcripts.video', verbose_name='recording')),
                    ('transcript', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='source', to='transcripts.transcript')),
                    ('title', models.CharField(max_length=300)),
                    ('author', models.CharField(blank=True, max_length=200, verbose_name='author or channel')),
                    ('url', models.CharField(blank=True, max_length=2048)),
                    ('language', models.CharField(blank=True, max_length=35)),
                    ('tags', models.JSONField(blank=True, default=list)),
                    ('has_slides', models.BooleanField(default=False, help_text='Its pages are slides.')),
                    ('edited', models.JSONField(blank=True, default=list, help_text='Fields that a person changed: reading keeps them.')),
                    ('published_at', models.DateTimeField(blank=True, null=True)),
                    ('digest', models.CharField(blank=True, help_text='Of the chunked text.', max_length=64)),
                    ('chunking', models.CharField(blank=True, choices=[('sentences', 'at sentences'), ('meaning', 'where the subject changes')], help_text='How it was chunked.', max_length=10, verbose_name='way of splitting')),
                    ('split_by', models.CharField(default='500/150/80', help_text='Size, overlap and percentile that it was chunked with.', max_length=40)),
                    ('fingerprint', models.CharField(blank=True, help_text='Of its transcript.', max_length=32)),
                    ('contexts_digest', models.CharField(blank=True, help_text='Of the text whose chunks have contexts.', max_length=64)),
                    ('characters', models.PositiveIntegerField(default=0)),
                    ('size', models.PositiveIntegerField(default=0, help_text='Its characters, estimated from its file until they are read.')),
                    ('added_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('begun_at', models.DateTimeField(blank=True, editable=False, help_text='When an attempt last began.', null=True)),
                    ('ready_at', models.DateTimeField(blank=True, editable=False, help_text='When it was last found by meaning.', null=True)),
                    ('wanted_at', models.DateTimeField(blank=True, editable=False, help_text='When somebody opened it or put it first, until it has its index and its guide.', null=True)),
                    ('chunk_count', models.PositiveIntegerField(default=0)),
                    ('cut_count', models.PositiveIntegerField(default=0, help_text='Chunks that were cut to fit the embedding model.')),
                    ('state', models.CharField(choices=[('pending', 'waiting'), ('words', 'found by words'), ('ready', 'found by words and meaning'), ('failed', 'failed')], default='pending', max_length=10)),
                    ('step', models.CharField(blank=True, max_length=60)),
                    ('refreshed_at', models.DateTimeField(blank=True, help_text="The recording's updated_at, when last copied.", null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'ordering': ('-created_at', '-pk'),
                    'indexes': [models.Index(condition=models.Q(('state__in', ('pending', 'words'))), fields=['state', 'id'], name='source_waiting'), models.Index(fields=['collection', '-created_at', '-id'], name='source_newest'), models.Index(fields=['collection', 'added_by', 'begun_at'], name='source_lane'), models.Index(condition=models.Q(('deletion__isnull', False)), fields=['deletion'], name='source_deletion'), models.Index(condition=models.Q(('wanted_at__isnull', False)), fields=['wanted_at'], name='source_wanted'), models.Index(fields=['ready_at'], name='source_ready')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('video', None), ('kind', 'video'), _connector='OR'), name='source_video'), models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'words', 'ready', 'failed'])), name='source_state'), models.UniqueConstraint(condition=models.Q(('video__isnull', False)), fields=('video', 'language'), name='source_once_a_language')],
                },
            ),
            migrations.CreateModel(
                name='Chunk',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('span_start', models.PositiveIntegerField()),
                    ('span_end', models.PositiveIntegerField()),
                    ('start', models.PositiveIntegerField(blank=True, null=True, verbose_name='start (ms)')),
                    ('end', models.PositiveIntegerField(blank=True, null=True, verbose_name='end (ms)')),
                    ('page', models.PositiveIntegerField(blank=True, null=True)),
                    ('last_page', models.PositiveIntegerField(blank=True, null=True)),
                    ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chunks', to='citations.source')),
                    ('ordinal', models.PositiveIntegerField()),
                    ('position', models.BigIntegerField(unique=True)),
                    ('text', models.TextField()),
                    ('context', models.TextField(blank=True, help_text='By a language model.')),
                    ('heading', models.CharField(blank=True, max_length=300)),
                    ('sentence_starts', models.JSONField(blank=True, default=list, help_text='Its character, and when it is said (ms).')),
                    ('speaker', models.CharField(blank=True, db_default='', help_text='Who alone says it, where that is known.', max_length=100)),
                    ('digest', models.BinaryField(help_text='SHA-256 of ``indexed_text``.', max_length=32)),
                ],
                options={
                    'ordering': ('source_id', 'ordinal'),
                    'constraints': [models.UniqueConstraint(deferrable=django.db.models.constraints.Deferrable['DEFERRED'], fields=('source', 'ordinal'), name='chunk_once'), models.CheckConstraint(condition=models.Q(('span_end__gt', models.F('span_start'))), name='chunk_not_empty')],
                    'indexes': [models.Index(condition=models.Q(('speaker', ''), _negated=True), fields=['speaker', 'source'], name='chunk_speaker')],
                },
            ),
            migrations.CreateModel(
                name='LectureSession',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('deletion', models.UUIDField(blank=True, editable=False, help_text='Of the deletion that hides it for now.', null=True)),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lectures', to='transcripts.collection')),
                    ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='lectures', to=settings.AUTH_USER_MODEL)),
                    ('title', models.CharField(max_length=300)),
                    ('language', models.CharField(blank=True, max_length=35)),
                    ('names_sources', models.BooleanField(default=False, help_text='It cites no others.')),
                    ('transcript', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='transcripts.transcript')),
                    ('position', models.PositiveIntegerField(default=0, verbose_name='position (ms)')),
                    ('buffer', models.JSONField(blank=True, default=dict, help_text='windows.Buffer as JSON.')),
                    ('window_count', models.PositiveIntegerField(default=0)),
                    ('event_count', models.PositiveIntegerField(default=0)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('sources', models.ManyToManyField(blank=True, related_name='lectures', to='citations.source')),
                ],
                options={
                    'verbose_name': 'lecture',
                    'ordering': ('-created_at', '-pk'),
                    'indexes': [models.Index(fields=['collection', '-created_at', '-id'], name='lecture_newest'), models.Index(condition=models.Q(('deletion__isnull', False)), fields=['deletion'], name='lecture_deletion')],
                },
            ),
            migrations.CreateModel(
                name='Segment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='segments', to='citations.lecturesession')),
                    ('number', models.PositiveIntegerField()),
                    ('text', models.TextField()),
                    ('start', models.PositiveIntegerField(blank=True, null=True, verbose_name='start (ms)')),
                    ('end', models.PositiveIntegerField(blank=True, null=True, verbose_name='end (ms)')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ('session_id', 'number'),
                    'constraints': [models.UniqueConstraint(fields=('session', 'number'), name='segment_once')],
                },
            ),
            migrations.CreateModel(
                name='Window',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('holder', models.UUIDField(blank=True, editable=False, null=True)),
                    ('active_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), help_text='The last sign of life of the holder, or the creation.')),
                    ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='windows', to='citations.lecturesession')),
                    ('index', models.PositiveIntegerField()),
                    ('text', models.TextField()),
                    ('first', models.PositiveIntegerField(blank=True, null=True, verbose_name='first segment')),
                    ('last', models.PositiveIntegerField(blank=True, null=True, verbose_name='last segment')),
                    ('start', models.PositiveIntegerField(blank=True, null=True, verbose_name='start (ms)')),
                    ('end', models.PositiveIntegerField(blank=True, null=True, verbose_name='end (ms)')),
                    ('outcome', models.CharField(choices=[('waiting', 'waiting'), ('cited', 'cited'), ('off_topic', 'off-topic'), ('too_far', 'nothing is near enough'), ('too_weak', 'nothing is relevant enough'), ('no_documents', 'there are no documents'), ('not_indexed_yet', 'the documents are not indexed yet'), ('failed', 'failed')], default='waiting', max_length=15)),
                    ('note', models.TextField(blank=True, help_text='A remark for the reader.')),
                    ('keywords', models.JSONField(blank=True, default=list)),
                    ('off_topic', models.FloatField(blank=True, help_text='Probability.', null=True)),
                    ('distance', models.FloatField(blank=True, help_text='Squared L2, 0 to 4.', null=True)),
                    ('stages', models.JSONField(blank=True, default=dict, help_text='Milliseconds by stage.')),
                    ('milliseconds', models.FloatField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('finished_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ('session_id', 'index'),
                    'indexes': [models.Index(condition=models.Q(('outcome', 'waiting')), fields=['created_at'], name='window_waiting')],
                    'constraints': [models.UniqueConstraint(fields=('session', 'index'), name='window_once'), models.CheckConstraint(condition=models.Q(('outcome__in', ['waiting', 'cited', 'off_topic', 'too_far', 'too_weak', 'no_documents', 'not_indexed_yet', 'failed'])), name='window_outcome')],
                },
            ),
            migrations.CreateModel(
                name='LectureEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='citations.lecturesession')),
                    ('number', models.PositiveIntegerField()),
                    ('kind', models.CharField(max_length=20)),
                    ('data', models.JSONField(default=dict)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ('session_id', 'number'),
                    'constraints': [models.UniqueConstraint(fields=('session', 'number'), name='lecture_event_once')],
                },
            ),
            migrations.CreateModel(
                name='Citation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('span_start', models.PositiveIntegerField()),
                    ('span_end', models.PositiveIntegerField()),
                    ('start', models.PositiveIntegerField(blank=True, null=True, verbose_name='start (ms)')),
                    ('end', models.PositiveIntegerField(blank=True, null=True, verbose_name='end (ms)')),
                    ('page', models.PositiveIntegerField(blank=True, null=True)),
                    ('last_page', models.PositiveIntegerField(blank=True, null=True)),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('answer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='citations', to='citations.answer')),
                    ('number', models.PositiveSmallIntegerField(blank=True, null=True)),
                    ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='citations', to='citations.lecturesession')),
                    ('window', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='citations', to='citations.window')),
                    ('window_index', models.PositiveIntegerField(blank=True, null=True)),
                    ('rank', models.PositiveSmallIntegerField(blank=True, null=True)),
                    ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='citations', to='citations.source')),
                    ('chunk', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='citations.chunk')),
                    ('section_heading', models.CharField(blank=True, max_length=300)),
                    ('speaker', models.CharField(blank=True, help_text='In an answer: who says it, if captions name speakers.', max_length=100)),
                    ('quote', models.TextField(help_text='In a lecture: the whole passage.')),
                    ('prefix', models.CharField(blank=True, max_length=100)),
                    ('suffix', models.CharField(blank=True, max_length=100)),
                    ('digest', models.CharField(help_text='Of the text that the span refers to.', max_length=64)),
                    ('snippet', models.TextField(blank=True, help_text='In a lecture.', verbose_name='passage')),
                    ('relevance_score', models.FloatField(blank=True, help_text='In a lecture: 0 to 1.', null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ('session_id', 'window_index', 'rank', 'answer_id', 'number'),
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('answer__isnull', False), ('number__isnull', False), ('rank__isnull', True), ('relevance_score__isnull', True), ('session__isnull', True), ('window__isnull', True), ('window_index__isnull', True)), models.Q(('answer__isnull', True), ('number__isnull', True), ('rank__isnull', False), ('relevance_score__isnull', False), ('session__isnull', False), ('window__isnull', False), ('window_index__isnull', False)), _connector='OR'), name='citation_of_answer_or_lecture'), models.UniqueConstraint(fields=('answer', 'number'), name='citation_number_once'), models.UniqueConstraint(fields=('session', 'window_index', 'rank'), name='citation_once'), models.CheckConstraint(condition=models.Q(('rank__gte', 1), ('rank__lte', 3)), name='citation_rank'), models.CheckConstraint(condition=models.Q(('relevance_score__gte', 0), ('relevance_score__lte', 1)), name='citation_score'), models.CheckConstraint(condition=models.Q(('span_end__gt', models.F('span_start'))), name='citation_not_empty')],
                },
            ),
            migrations.CreateModel(
                name='Deletion',
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
                    ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('door', models.CharField(max_length=10)),
                    ('token', models.CharField(blank=True, help_text='How it begins.', max_length=12)),
                    ('address', models.GenericIPAddressField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ('pk',),
                },
            ),
            migrations.CreateModel(
                name='Document',
                fields=[
                    ('source', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='document', serialize=False, to='citations.source')),
                    ('name', models.CharField(help_text='The original file name.', max_length=300)),
                    ('media_type', models.CharField(max_length=100)),
                    ('size', models.PositiveBigIntegerField(help_text='Bytes.')),
                    ('digest', models.CharField(db_index=True, help_text='SHA-256 of the bytes.', max_length=64)),
                    ('read_by', models.CharField(blank=True, help_text='Name and version of the reader; empty: not finished.', max_length=40)),
                    ('page_count', models.PositiveIntegerField(default=0)),
                    ('outline', models.JSONField(blank=True, default=list, help_text='[[level, title, page], …]')),
                    ('note', models.TextField(blank=True, help_text='Findings of the reader.')),
                    ('unread_pages', models.JSONField(blank=True, default=list, help_text='Numbers of pages whose words OCR could read.')),
                    ('awaits_ocr', models.BooleanField(default=False, help_text='Pages without words are to be read by OCR.')),
                ],
            ),
            migrations.CreateModel(
                name='OcrResult',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ocr_results', to='citations.document')),
                    ('number', models.PositiveIntegerField(help_text='Of the page, counted from 1.')),
                    ('engine', models.CharField(help_text='Which program and models have read it.', max_length=80)),
                    ('score', models.FloatField(help_text='How sure it is on average, 0 to 1; 0 without words.')),
                    ('is_readable', models.BooleanField(help_text='Whether its words can be those of the page.')),
                    ('page', models.JSONField(help_text='An ``OcrPage``.')),
                ],
                options={
                    'ordering': ('document_id', 'number'),
                    'constraints': [models.UniqueConstraint(fields=('document', 'number'), name='ocr_once')],
                },
            ),
            migrations.CreateModel(
                name='DocumentPart',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='citations.document')),
                    ('ordinal', models.PositiveIntegerField()),
                    ('data', models.BinaryField()),
                ],
                options={
                    'ordering': ('document_id', 'ordinal'),
                    'constraints': [models.UniqueConstraint(fields=('document', 'ordinal'), name='document_part_once')],
                },
            ),
            migrations.CreateModel(
                name='Page',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pages', to='citations.document')),
                    ('number', models.PositiveIntegerField(help_text='Counted from 1.')),
                    ('label', models.CharField(blank=True, help_text='The printed number, such as xii.', max_length=40)),
                    ('start', models.PositiveIntegerField(help_text="Offset in the source's text.")),
                    ('is_slide', models.BooleanField(default=False)),
                    ('text', models.TextField(blank=True)),
                    ('html', models.TextField(blank=True, help_text='The same words with their markup, not yet sanitised.')),
                    ('blocks', models.JSONField(blank=True, default=list, help_text='Paragraphs: [[first, last character in the page, heading, starts a section]].')),
                ],
                options={
                    'ordering': ('document_id', 'number'),
                    'constraints': [models.UniqueConstraint(fields=('document', 'number'), name='page_once')],
                },
            ),
            migrations.CreateModel(
                name='Guide',
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
                    ('source', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='guide', to='citations.source')),
                    ('digest', models.CharField(help_text='Of the text that it was made from.', max_length=64)),
                    ('version', models.PositiveSmallIntegerField(help_text='Of the rules that it was made by.')),
                    ('items', models.JSONField(default=dict)),
                    ('made_at', models.DateTimeField(blank=True, null=True)),
                    ('failed_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ('-pk',),
                },
            ),
            migrations.CreateModel(
                name='AbstractsRequest',
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
                    ('source', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='citations.source')),
                ],
                options={
                    'ordering': ('pk',),
                },
            ),
            migrations.CreateModel(
                name='Highlight',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('deletion', models.UUIDField(blank=True, editable=False, help_text='Of the deletion that hides it for now.', null=True)),
                    ('span_start', models.PositiveIntegerField()),
                    ('span_end', models.PositiveIntegerField()),
                    ('start', models.PositiveIntegerField(blank=True, null=True, verbose_name='start (ms)')),
                    ('end', models.PositiveIntegerField(blank=True, null=True, verbose_name='end (ms)')),
                    ('page', models.PositiveIntegerField(blank=True, null=True)),
                    ('last_page', models.PositiveIntegerField(blank=True, null=True)),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='highlights', to='citations.source')),
                    ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='highlights', to=settings.AUTH_USER_MODEL)),
                    ('color', models.CharField(choices=[('yellow', 'yellow'), ('green', 'green'), ('blue', 'blue'), ('pink', 'pink')], default='yellow', max_length=10)),
                    ('quote', models.TextField()),
                    ('prefix', models.CharField(blank=True, max_length=100)),
                    ('suffix', models.CharField(blank=True, max_length=100)),
                    ('digest', models.CharField(help_text='Of the text that the span refers to.', max_length=64)),
                    ('section_heading', models.CharField(blank=True, max_length=300)),
                    ('speaker', models.CharField(blank=True, help_text='Who says it, if captions name speakers.', max_length=100)),
                    ('note', models.TextField(blank=True)),
                    ('tags', models.JSONField(blank=True, default=list)),
                    ('is_shared', models.BooleanField(default=False, verbose_name='shared')),
                    ('is_card', models.BooleanField(default=False, help_text='To be learnt by heart.', verbose_name='card')),
                    ('hidden_words', models.CharField(blank=True, help_text='By its card; empty: chosen automatically.', max_length=200)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'ordering': ('-created_at', '-pk'),
                    'indexes': [models.Index(fields=['author', '-created_at', '-id'], name='highlight_latest'), models.Index(fields=['source', 'span_start'], name='highlight_in_source')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('color__in', ['yellow', 'green', 'blue', 'pink'])), name='highlight_color'), models.CheckConstraint(condition=models.Q(('span_end__gt', models.F('span_start'))), name='highlight_not_empty')],
                },
            ),
            migrations.CreateModel(
                name='LexEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('source', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='citations.source')),
                    ('first', models.BigIntegerField(unique=True)),
                    ('count', models.PositiveIntegerField()),
                    ('tokens', models.BigIntegerField()),
                    ('code', models.CharField(help_text='Of the stemmer of its language.', max_length=8)),
                    ('merged', models.BooleanField(default=False, help_text='Its postings are in the packs.')),
                    ('tokenizer_version', models.PositiveSmallIntegerField()),
                    ('data', models.BinaryField()),
                ],
                options={
                    'ordering': ('first',),
                    'indexes': [models.Index(condition=models.Q(('merged', False), ('source', None), _connector='OR'), fields=['id'], name='lexentry_open'), models.Index(fields=['tokenizer_version'], name='lexentry_version')],
                },
            ),
            migrations.CreateModel(
                name='LexPack',
                fields=[
                    ('pack', models.PositiveIntegerField(primary_key=True, serialize=False)),
                    ('version', models.BigIntegerField()),
                    ('count', models.PositiveIntegerField()),
                    ('tokens', models.BigIntegerField()),
                    ('codes', models.TextField()),
                    ('data', models.BinaryField()),
                    ('dead', models.BinaryField(default=b'')),
                ],
            ),
            migrations.CreateModel(
                name='LexBlock',
                fields=[
                    ('pk', models.CompositePrimaryKey('term', 'pack', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('term', models.TextField(db_collation='C')),
                    ('pack', models.PositiveIntegerField()),
                    ('version', models.BigIntegerField()),
                    ('count', models.PositiveIntegerField()),
                    ('skyline', models.BinaryField()),
                    ('data', models.BinaryField()),
                ],
            ),
            migrations.CreateModel(
                name='Mark',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='marks', to=settings.AUTH_USER_MODEL)),
                    ('query', models.CharField(max_length=1000)),
                    ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='marks', to='citations.source')),
                    ('span_start', models.PositiveIntegerField()),
                    ('span_end', models.PositiveIntegerField()),
                    ('start', models.PositiveIntegerField(blank=True, null=True, verbose_name='start (ms)')),
                    ('end', models.PositiveIntegerField(blank=True, null=True, verbose_name='end (ms)')),
                    ('page', models.PositiveIntegerField(blank=True, null=True)),
                    ('right', models.BooleanField(verbose_name='judged right')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'ordering': ('-pk',),
                    'constraints': [models.UniqueConstraint(fields=('user', 'query', 'source', 'span_start', 'span_end'), name='mark_once'), models.CheckConstraint(condition=models.Q(('span_end__gt', models.F('span_start'))), name='mark_not_empty')],
                },
            ),
            migrations.CreateModel(
                name='EmbeddingSpace',
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
                    ('provider', models.CharField(max_length=20)),
                    ('model', models.CharField(max_length=200)),
                    ('dimensions', models.PositiveIntegerField()),
                    ('state', models.CharField(choices=[('building', 'being built'), ('active', 'searched'), ('retired', 'replaced')], max_length=10)),
                    ('guarded', models.BooleanField(default=False, help_text='Do not switch to worse ranks.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('activated_at', models.DateTimeField(blank=True, null=True)),
                    ('overrules', models.JSONField(blank=True, default=list, help_text='Settings that the migration overrules: provider, model, dimensions.')),
                ],
                options={
                    'ordering': ('-pk',),
                    'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['building', 'active', 'retired'])), name='space_state'), models.CheckConstraint(condition=models.Q(('dimensions__gte', 1), ('dimensions__lte', 4000)), name='space_dimensions'), models.UniqueConstraint(condition=models.Q(('state', 'active')), fields=('state',), name='space_one_active'), models.UniqueConstraint(condition=models.Q(('state', 'building')), fields=('state',), name='space_one_building')],
                },
            ),
            migrations.CreateModel(
                name='Embedding',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('chunk', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='embeddings', to='citations.chunk')),
                    ('space', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='embeddings', to='citations.embeddingspace')),
                    ('source', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='citations.source')),
                    ('digest', models.BinaryField(max_length=32)),
                    ('vector', pgvector.django.halfvec.HalfVectorField()),
                    ('is_cut', models.BooleanField(db_default=False, help_text="It is of the text's beginning.")),
                ],
                options={
                    'indexes': [models.Index(fields=['source', 'space'], name='embedding_of_source'), models.Index(fields=['space', 'digest'], name='embedding_of_text'), models.Index(condition=models.Q(('is_cut', True)), fields=['space', 'source'], name='embedding_cut')],
                    'constraints': [models.UniqueConstraint(fields=('chunk', 'space'), name='embedding_once')],
                },
            ),
            migrations.CreateModel(
                name='Node',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('span_start', models.PositiveIntegerField()),
                    ('span_end', models.PositiveIntegerField()),
                    ('start', models.PositiveIntegerField(blank=True, null=True, verbose_name='start (ms)')),
                    ('end', models.PositiveIntegerField(blank=True, null=True, verbose_name='end (ms)')),
                    ('page', models.PositiveIntegerField(blank=True, null=True)),
                    ('last_page', models.PositiveIntegerField(blank=True, null=True)),
                    ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='nodes', to='citations.source')),
                    ('level', models.PositiveSmallIntegerField(choices=[(1, 'paragraphs'), (2, 'section'), (3, 'document')])),
                    ('ordinal', models.PositiveIntegerField(help_text="Among the source's nodes of this level.")),
                    ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='children', to='citations.node')),
                    ('title', models.CharField(blank=True, help_text='A heading, chapter or distinctive words.', max_length=300)),
                    ('text', models.TextField(help_text='The summary: verbatim sentences.')),
                    ('spans', models.JSONField(default=list, help_text='[first, last) characters of each sentence.')),
                    ('abstract', models.TextField(blank=True, help_text='The summary by a language model.')),
                    ('first', models.PositiveIntegerField(verbose_name='first chunk')),
                    ('last', models.PositiveIntegerField(verbose_name='last chunk')),
                    ('digest', models.BinaryField(help_text='SHA-256 of its input.', max_length=32)),
                    ('space', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='citations.embeddingspace')),
                    ('vector', pgvector.django.halfvec.HalfVectorField(blank=True, null=True)),
                ],
                options={
                    'ordering': ('source_id', '-level', 'ordinal'),
                    'indexes': [models.Index(fields=['space', 'level'], name='node_of_space')],
                    'constraints': [models.UniqueConstraint(deferrable=django.db.models.constraints.Deferrable['DEFERRED'], fields=('source', 'level', 'ordinal'), name='node_once'), models.CheckConstraint(condition=models.Q(('level__in', [1, 2, 3])), name='node_level'), models.CheckConstraint(condition=models.Q(('span_end__gt', models.F('span_start'))), name='node_not_empty'), models.CheckConstraint(condition=models.Q(('last__gte', models.F('first'))), name='node_chunks')],
                },
            ),
            migrations.CreateModel(
                name='Topic',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='topics', to='transcripts.collection')),
                    ('space', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='citations.embeddingspace')),
                    ('label', models.CharField(max_length=200)),
                    ('terms', models.JSONField(default=list)),
                    ('vector', pgvector.django.halfvec.HalfVectorField()),
                    ('size', models.PositiveIntegerField(default=0, help_text='Sections at the last update.')),
                    ('size_at_rebuild', models.PositiveIntegerField(default=0, help_text='Sections at the last rebuild.')),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'ordering': ('collection_id', 'label'),
                },
            ),
            migrations.CreateModel(
                name='TopicMember',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('topic', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='members', to='citations.topic')),
                    ('node', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='topics', to='citations.node')),
                    ('weight', models.FloatField()),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('topic', 'node'), name='topic_member_once'), models.CheckConstraint(condition=models.Q(('weight__gt', 0), ('weight__lte', 1)), name='topic_member_weight')],
                },
            ),
            migrations.CreateModel(
                name='ReadingProgress',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reading_progress', to=settings.AUTH_USER_MODEL)),
                    ('video', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='reading_progress', to='transcripts.video', verbose_name='recording')),
                    ('document', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='reading_progress', to='citations.source')),
                    ('position', models.PositiveIntegerField(default=0, help_text='Milliseconds of a recording, or the page of a document.')),
                    ('is_finished', models.BooleanField(default=False, help_text='The end was reached once.', verbose_name='read')),
                    ('read_at', models.DateTimeField(verbose_name='last read')),
                ],
                options={
                    'verbose_name_plural': 'reading progress',
                    'ordering': ('-read_at', '-pk'),
                    'indexes': [models.Index(fields=['user', '-read_at'], name='reading_latest')],
                    'constraints': [models.UniqueConstraint(fields=('user', 'video'), name='reading_of_video_once'), models.UniqueConstraint(fields=('user', 'document'), name='reading_of_document_once'), models.CheckConstraint(condition=models.Q(('video__isnull', True), ('document__isnull', True), _connector='XOR'), name='reading_of_one')],
                },
            ),
            migrations.CreateModel(
                name='ChosenModel',
                fields=[
                    ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                    ('provider', models.CharField(max_length=20)),
                    ('model', models.CharField(max_length=200)),
                    ('base_url', models.CharField(blank=True, help_text="Empty: the service's own", max_length=200)),
                    ('secret', models.BinaryField(default=bytes, help_text='The key, encrypted by SECRET_KEY')),
                    ('chosen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='chosen_model_one_row')],
                },
            ),
            migrations.CreateModel(
                name='SharedLink',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shared_links', to=settings.AUTH_USER_MODEL)),
                    ('highlight', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shared_links', to='citations.highlight')),
                    ('answer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shared_links', to='citations.answer')),
                    ('source', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shared_links', to='citations.source')),
                    ('page', models.PositiveIntegerField(blank=True, null=True)),
                    ('start', models.PositiveBigIntegerField(blank=True, null=True, verbose_name='start (ms)')),
                    ('end', models.PositiveBigIntegerField(blank=True, null=True, verbose_name='end (ms)')),
                    ('quote', models.TextField(blank=True, help_text='If not the whole page or clip is shown.')),
                    ('prefix', models.CharField(blank=True, max_length=100)),
                    ('suffix', models.CharField(blank=True, max_length=100)),
                    ('plays_file', models.BooleanField(default=False, help_text='Whether clips of audio and video files are played.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('expires_at', models.DateTimeField()),
                ],
                options={
                    'ordering': ('-created_at', '-pk'),
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('answer__isnull', False), ('highlight', None), ('source', None)), models.Q(('answer', None), ('highlight__isnull', False), ('source', None)), models.Q(('answer', None), ('highlight', None), ('source__isnull', False)), _connector='OR'), name='shared_link_of_one'), models.CheckConstraint(condition=models.Q(models.Q(('end', None), ('page', None), ('source', None), ('start', None)), models.Q(('end', None), ('page__isnull', False), ('source__isnull', False), ('start', None)), models.Q(('end__gt', models.F('start')), ('page', None), ('source__isnull', False), ('start__isnull', False)), _connector='OR'), name='shared_link_of_page_or_clip'), models.CheckConstraint(condition=models.Q(('quote', ''), ('source__isnull', False), _connector='OR'), name='shared_link_quotes_a_source')],
                },
            ),
            migrations.CreateModel(
                name='SharedClip',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('media_type', models.CharField(max_length=30)),
                    ('size', models.PositiveBigIntegerField(help_text='Bytes.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('name', models.CharField(blank=True, max_length=20)),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('link', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='clips', to='citations.sharedlink')),
                    ('media', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shared_clips', to='transcripts.mediafile')),
                    ('start', models.PositiveBigIntegerField(verbose_name='start (ms)')),
                    ('end', models.PositiveBigIntegerField(verbose_name='end (ms)')),
                    ('lead', models.PositiveIntegerField(default=0, help_text='Pictures before the start, which are not to be shown.', verbose_name='lead (ms)')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('link', 'media', 'start', 'end'), name='shared_clip_once'), models.CheckConstraint(condition=models.Q(('end__gt', models.F('start'))), name='shared_clip_ends_later')],
                },
            ),
            migrations.CreateModel(
                name='SharedClipPart',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('ordinal', models.PositiveIntegerField()),
                    ('data', models.BinaryField()),
                    ('clip', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='citations.sharedclip')),
                ],
                options={
                    'ordering': ('clip_id', 'ordinal'),
                    'constraints': [models.UniqueConstraint(fields=('clip', 'ordinal'), name='shared_clip_part_once')],
                },
            ),
        ]),
        # Kept in the row: to fetch a vector from beside it costs many times the comparison.
        migrations.RunSQL("ALTER TABLE citations_embedding ALTER vector SET STORAGE PLAIN", ""),
        # Blocks are read whole or not at all, and are compact already.
        migrations.RunSQL("ALTER TABLE citations_lexblock ALTER data SET STORAGE EXTERNAL", ""),
        migrations.RunSQL("ALTER TABLE citations_lexpack ALTER data SET STORAGE EXTERNAL", ""),
        migrations.RunSQL(
            "CREATE SEQUENCE citations_place MINVALUE 0 START 0", "DROP SEQUENCE citations_place"
        ),
        migrations.RunSQL(
            "CREATE SEQUENCE citations_lexversion", "DROP SEQUENCE citations_lexversion"
        ),
        migrations.RunSQL(TAKE_PLACES, "DROP FUNCTION citations_take_places"),
        migrations.RunPython(add_rules, migrations.RunPython.noop),
    ]
