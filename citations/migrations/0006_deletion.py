from django.db import migrations

# As in 0004; the foreign keys exist only from the end of their own migration on: what is being written while somebody deletes what it belongs to goes with it.
RULES = """
DO $$
DECLARE
    rule record;
    found text;
BEGIN
    FOR rule IN SELECT * FROM (VALUES
        ('citations_document', 'source_id', 'citations_source', 'id', 'CASCADE'),
        ('citations_documentpart', 'document_id', 'citations_document', 'source_id', 'CASCADE'),
        ('citations_page', 'document_id', 'citations_document', 'source_id', 'CASCADE'),
        ('citations_lecturesession', 'collection_id', 'transcripts_collection', 'id', 'CASCADE'),
        ('citations_lecturesession', 'transcript_id', 'transcripts_transcript', 'id', 'SET NULL'),
        ('citations_lecturesession_sources', 'lecturesession_id', 'citations_lecturesession', 'id', 'CASCADE'),
        ('citations_lecturesession_sources', 'source_id', 'citations_source', 'id', 'CASCADE'),
        ('citations_segment', 'session_id', 'citations_lecturesession', 'id', 'CASCADE'),
        ('citations_window', 'session_id', 'citations_lecturesession', 'id', 'CASCADE'),
        ('citations_happening', 'session_id', 'citations_lecturesession', 'id', 'CASCADE'),
        ('citations_citation', 'session_id', 'citations_lecturesession', 'id', 'CASCADE'),
        ('citations_citation', 'window_id', 'citations_window', 'id', 'CASCADE'),
        ('citations_citation', 'source_id', 'citations_source', 'id', 'CASCADE'),
        ('citations_citation', 'chunk_id', 'citations_chunk', 'id', 'SET NULL')
    ) AS rules (tab, col, target, key, action) LOOP
        SELECT conname INTO STRICT found FROM pg_constraint
        WHERE contype = 'f' AND conrelid = rule.tab::regclass
            AND conkey = ARRAY[(SELECT attnum FROM pg_attribute WHERE attrelid = rule.tab::regclass AND attname = rule.col)];
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I, ADD CONSTRAINT %I FOREIGN KEY (%I) REFERENCES %I (%I) ON DELETE %s DEFERRABLE INITIALLY DEFERRED',
            rule.tab, found, found, rule.col, rule.target, rule.key, rule.action);
    END LOOP;
END
$$
"""


class Migration(migrations.Migration):
    dependencies = [("citations", "0005_documents_and_lectures")]

    operations = [migrations.RunSQL(RULES, migrations.RunSQL.noop)]
