from django.db import migrations, models
import django.db.models.deletion


# What is being written while somebody deletes what it belongs to goes with it: Django, which collects first and deletes then, would not see it, and the
# deletion would fail. The foreign keys get the same rules in the database.
RULES = """
DO $$
DECLARE
    rule record;
    found text;
BEGIN
    FOR rule IN SELECT * FROM (VALUES
        ('citations_source', 'collection_id', 'transcripts_collection', '{cascade}'),
        ('citations_source', 'video_id', 'transcripts_video', '{cascade}'),
        ('citations_source', 'transcript_id', 'transcripts_transcript', '{cascade}'),
        ('citations_chunk', 'source_id', 'citations_source', '{cascade}'),
        ('citations_mark', 'source_id', 'citations_source', '{cascade}'),
        ('citations_lexentry', 'source_id', 'citations_source', '{null}'),
        ('citations_embedding', 'chunk_id', 'citations_chunk', '{cascade}'),
        ('citations_embedding', 'source_id', 'citations_source', '{cascade}'),
        ('citations_embedding', 'space_id', 'citations_embeddingspace', '{cascade}')
    ) AS rules (tab, col, target, action) LOOP
        SELECT conname INTO STRICT found FROM pg_constraint
        WHERE contype = 'f' AND conrelid = rule.tab::regclass
            AND conkey = ARRAY[(SELECT attnum FROM pg_attribute WHERE attrelid = rule.tab::regclass AND attname = rule.col)];
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I, ADD CONSTRAINT %I FOREIGN KEY (%I) REFERENCES %I (id) %s DEFERRABLE INITIALLY DEFERRED',
            rule.tab, found, found, rule.col, rule.target, rule.action);
    END LOOP;
END
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('citations', '0003_lexicon'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='chunk',
            options={'ordering': ('source_id', 'ordinal')},
        ),
        migrations.AddField(
            model_name='source',
            name='contexts_of',
            field=models.CharField(blank=True, help_text='The digest of the text whose chunks all have been given their contexts.', max_length=64),
        ),
        migrations.AddField(
            model_name='source',
            name='cut',
            field=models.CharField(blank=True, choices=[('sentences', 'at sentences'), ('meaning', 'where the subject changes')], help_text='How its chunks were cut.', max_length=10),
        ),
        migrations.AddField(
            model_name='source',
            name='fingerprint',
            field=models.CharField(blank=True, help_text='Of the transcript that it was made from, so that a change is seen without reading it.', max_length=32),
        ),
        migrations.AlterField(
            model_name='source',
            name='refreshed_at',
            field=models.DateTimeField(blank=True, help_text="The video's time of change when what is known of it was copied.", null=True),
        ),
        migrations.AlterField(
            model_name='embedding',
            name='chunk',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='embeddings', to='citations.chunk'),
        ),
        migrations.RunSQL(
            RULES.format(cascade='ON DELETE CASCADE', null='ON DELETE SET NULL'),
            RULES.format(cascade='', null=''),
        ),
    ]
