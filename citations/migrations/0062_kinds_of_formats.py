"""Formats say which kinds of sources there are; the database, which sources have a recording."""

import citations.formats
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('citations', '0061_window_not_indexed_yet'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='source',
            name='source_kind',
        ),
        migrations.AlterField(
            model_name='source',
            name='kind',
            field=models.CharField(choices=citations.formats.kind_choices, max_length=10),
        ),
        migrations.AddConstraint(
            model_name='source',
            constraint=models.CheckConstraint(condition=models.Q(('video', None), ('kind', 'video'), _connector='OR'), name='source_video'),
        ),
    ]
