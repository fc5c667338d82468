from django.db import migrations
from pgvector.django import VectorExtension


class Migration(migrations.Migration):
    """Make PostgreSQL know vectors."""

    initial = True
    dependencies = []
    operations = [VectorExtension()]
