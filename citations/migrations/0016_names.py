from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("citations", "0015_one_citation")]

    operations = [migrations.DeleteModel("Quotation")]
