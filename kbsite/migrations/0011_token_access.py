from django.db import migrations, models


def keep_writing(apps, schema_editor):
    apps.get_model('kbsite', 'ApiToken').objects.filter(can_write=True).update(access='write')


class Migration(migrations.Migration):
    """A token may read, write or manage; one that could write no longer manages."""

    dependencies = [
        ('kbsite', '0010_keyed_requests_begin_work'),
    ]

    operations = [
        migrations.AddField(
            model_name='apitoken',
            name='access',
            field=models.CharField(choices=[('read', 'read, search and ask'), ('write', 'also add, change and delete sources, notes, highlights, conversations and lectures'), ('manage', 'also manage members, shared links and webhooks, and delete collections; people it lets in stay when it ends')], default='read', max_length=6, verbose_name='may'),
        ),
        migrations.RunPython(keep_writing, migrations.RunPython.noop, elidable=True),
        migrations.RemoveField(model_name='apitoken', name='can_write'),
        migrations.AddConstraint(
            model_name='apitoken',
            constraint=models.CheckConstraint(condition=models.Q(('access__in', ['read', 'write', 'manage'])), name='token_access'),
        ),
    ]
