from django.db import migrations

# As in 0006: what belongs to a source, a conversation or a collection goes with it, also when it is written at that very moment.
RULES = """
DO $$
DECLARE
    rule record;
    found text;
BEGIN
    FOR rule IN SELECT * FROM (VALUES
        ('citations_node', 'source_id', 'citations_source', 'CASCADE'),
        ('citations_node', 'parent_id', 'citations_node', 'CASCADE'),
        ('citations_node', 'space_id', 'citations_embeddingspace', 'SET NULL'),
        ('citations_topic', 'collection_id', 'transcripts_collection', 'CASCADE'),
        ('citations_topic', 'space_id', 'citations_embeddingspace', 'CASCADE'),
        ('citations_topicmember', 'topic_id', 'citations_topic', 'CASCADE'),
        ('citations_topicmember', 'node_id', 'citations_node', 'CASCADE'),
        ('citations_conversation', 'collection_id', 'transcripts_collection', 'CASCADE'),
        ('citations_answer', 'conversation_id', 'citations_conversation', 'CASCADE'),
        ('citations_quotation', 'answer_id', 'citations_answer', 'CASCADE'),
        ('citations_quotation', 'source_id', 'citations_source', 'CASCADE'),
        ('citations_note', 'collection_id', 'transcripts_collection', 'CASCADE'),
        ('citations_note', 'answer_id', 'citations_answer', 'SET NULL')
    ) AS rules (tab, col, target, action) LOOP
        SELECT conname INTO STRICT found FROM pg_constraint
        WHERE contype = 'f' AND conrelid = rule.tab::regclass
            AND conkey = ARRAY[(SELECT attnum FROM pg_attribute WHERE attrelid = rule.tab::regclass AND attname = rule.col)];
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I, ADD CONSTRAINT %I FOREIGN KEY (%I) REFERENCES %I (id) ON DELETE %s DEFERRABLE INITIALLY DEFERRED',
            rule.tab, found, found, rule.col, rule.target, rule.action);
    END LOOP;
END
$$
"""


class Migration(migrations.Migration):
    dependencies = [("citations", "0009_notebook")]

    operations = [migrations.RunSQL(RULES, migrations.RunSQL.noop)]
