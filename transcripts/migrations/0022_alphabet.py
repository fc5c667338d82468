from django.db import migrations
from django.db.models import Func, TextField
from django.db.models.functions import Collate

FUNCTION = r"""
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


def alphabetical(name):
    return Collate(Func(name, function="cuebase_alphabet", output_field=TextField()), "C")


class Migration(migrations.Migration):
    dependencies = [("transcripts", "0021_read_digest")]

    operations = [
        migrations.RunSQL(FUNCTION, "DROP FUNCTION IF EXISTS cuebase_alphabet(text)"),
        migrations.AlterModelOptions(
            "collection", {"ordering": (alphabetical("name"), "pk")}
        ),
        migrations.AlterModelOptions(
            "feed", {"ordering": (alphabetical("title"), "youtube_id")}
        ),
    ]
