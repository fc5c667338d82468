"""Move the quotes of answers from Quotation to Citation, which holds those of lectures already."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

# Constraint checks are deferred; those of copied rows must run before a table is altered.
_CHECK = "SET CONSTRAINTS ALL IMMEDIATE"
_SAME = """uuid, answer_id, number, source_id, quote, span_start, span_end, digest, start, "end", page,
    last_page, section_heading, created_at"""
COPY = f"""
INSERT INTO citations_citation ({_SAME}, prefix, suffix, snippet)
    SELECT {_SAME}, before, behind, '' FROM citations_quotation ORDER BY id
"""
COPY_BACK = f"""
INSERT INTO citations_quotation ({_SAME}, before, behind)
    SELECT {_SAME}, prefix, suffix FROM citations_citation WHERE answer_id IS NOT NULL ORDER BY id
"""
DELETE_COPIES = "DELETE FROM citations_citation WHERE answer_id IS NOT NULL"

# As in 0006 and 0010: the database deletes a citation together with what it belongs to.
CASCADE = """
DO $$
DECLARE
    rule record;
    found text;
BEGIN
    FOR rule IN SELECT * FROM (VALUES %s) AS rules (tab, col, target) LOOP
        SELECT conname INTO STRICT found FROM pg_constraint
        WHERE contype = 'f' AND conrelid = rule.tab::regclass AND conkey = ARRAY[(
            SELECT attnum FROM pg_attribute
            WHERE attrelid = rule.tab::regclass AND attname = rule.col
        )];
        EXECUTE format(
            'ALTER TABLE %%I DROP CONSTRAINT %%I, ADD CONSTRAINT %%I FOREIGN KEY (%%I)'
            ' REFERENCES %%I (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED',
            rule.tab, found, found, rule.col, rule.target
        );
    END LOOP;
END
$$
"""
CASCADE_CITATION = CASCADE % "('citations_citation', 'answer_id', 'citations_answer')"
CASCADE_QUOTATION = (
    CASCADE
    % """('citations_quotation', 'answer_id', 'citations_answer'),
    ('citations_quotation', 'source_id', 'citations_source')"""
)

NULL = """ALTER TABLE citations_citation
    ALTER session_id DROP NOT NULL, ALTER window_id DROP NOT NULL"""
NOT_NULL = """ALTER TABLE citations_citation
    ALTER session_id SET NOT NULL, ALTER window_id SET NOT NULL"""

OF_ANSWER = Q(
    answer__isnull=False,
    number__isnull=False,
    session__isnull=True,
    window__isnull=True,
    window_index__isnull=True,
    rank__isnull=True,
    relevance_score__isnull=True,
)
OF_LECTURE = Q(
    answer__isnull=True,
    number__isnull=True,
    session__isnull=False,
    window__isnull=False,
    window_index__isnull=False,
    rank__isnull=False,
    relevance_score__isnull=False,
)


class Migration(migrations.Migration):
    dependencies = [("citations", "0014_note_once")]

    operations = [
        migrations.AlterModelOptions(
            "citation",
            {"ordering": ("session_id", "window_index", "rank", "answer_id", "number")},
        ),
        migrations.AddField(
            "citation",
            "answer",
            models.ForeignKey(
                "citations.answer",
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="citations",
            ),
        ),
        migrations.AddField(
            "citation", "number", models.PositiveSmallIntegerField(blank=True, null=True)
        ),
        migrations.AddField(
            "citation", "prefix", models.CharField(blank=True, max_length=100, default=""), False
        ),
        migrations.AddField(
            "citation", "suffix", models.CharField(blank=True, max_length=100, default=""), False
        ),
        migrations.SeparateDatabaseAndState(
            # Django would replace the foreign keys, and lose what the database does on deletion.
            [migrations.RunSQL(NULL, NOT_NULL)],
            [
        migrations.AlterField(
            "citation",
            "session",
            models.ForeignKey(
                "citations.lecturesession",
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="citations",
            ),
        ),
        migrations.AlterField(
            "citation",
            "window",
            models.ForeignKey(
                "citations.window",
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="citations",
            ),
        ),
            ],
        ),
        migrations.AlterField(
            "citation", "window_index", models.PositiveIntegerField(blank=True, null=True)
        ),
        migrations.AlterField(
            "citation", "rank", models.PositiveSmallIntegerField(blank=True, null=True)
        ),
        migrations.AlterField(
            "citation",
            "quote",
            models.TextField(help_text="In a lecture: the whole passage."),
        ),
        migrations.AlterField(
            "citation",
            "digest",
            models.CharField(
                help_text="Of the source text that the span refers to.", max_length=64
            ),
        ),
        migrations.AlterField(
            "citation",
            "snippet",
            models.TextField(
                blank=True, help_text="In a lecture: 100 to 200 characters of the passage."
            ),
        ),
        migrations.AlterField(
            "citation",
            "relevance_score",
            models.FloatField(blank=True, help_text="In a lecture: 0 to 1.", null=True),
        ),
        migrations.RunSQL(
            [CASCADE_CITATION, COPY, "DELETE FROM citations_quotation", _CHECK],
            [CASCADE_QUOTATION, COPY_BACK, DELETE_COPIES, _CHECK],
        ),
        migrations.AddConstraint(
            "citation",
            models.CheckConstraint(
                condition=OF_ANSWER | OF_LECTURE, name="citation_of_answer_or_lecture"
            ),
        ),
        migrations.AddConstraint(
            "citation",
            models.UniqueConstraint(fields=("answer", "number"), name="citation_number_once"),
        ),
    ]
