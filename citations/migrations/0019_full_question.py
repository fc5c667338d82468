from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('citations', '0018_help_texts'),
    ]

    operations = [
        migrations.RenameField('answer', 'asked_as', 'full_question'),
    ]
