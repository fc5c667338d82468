"""Keep the events of lectures as every door shows them: with times in seconds."""

from django.db import migrations

SPEECH = """
    UPDATE citations_lectureevent
    SET data = data || jsonb_build_object(
        'start', (data ->> 'start')::float {0} 1000, 'end', (data ->> 'end')::float {0} 1000
    )
    WHERE kind IN ('segment', 'window')
"""
CITATIONS = """
    UPDATE citations_lectureevent
    SET data = data || jsonb_build_object('citations', (
        SELECT jsonb_agg(cited || jsonb_build_object(
            'start', (cited ->> 'start')::float {0} 1000, 'end', (cited ->> 'end')::float {0} 1000
        ) ORDER BY rank)
        FROM jsonb_array_elements(data -> 'citations') WITH ORDINALITY AS each (cited, rank)
    ))
    WHERE kind = 'citations' AND data -> 'citations' <> '[]'
"""


class Migration(migrations.Migration):
    dependencies = (("citations", "0058_window_stages"),)

    operations = tuple(
        migrations.RunSQL(change.format("/"), change.format("*")) for change in (SPEECH, CITATIONS)
    )
