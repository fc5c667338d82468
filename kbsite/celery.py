"""The Celery application. Without a broker, messages are files in the data directory."""

import os
from pathlib import Path

from celery import Celery
from celery.signals import before_task_publish, celeryd_init, setup_logging
from django.conf import settings
from django.utils.log import configure_logging
from kombu.transport import TRANSPORT_ALIASES

from kbsite import boot

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kbsite.settings")

TRANSPORT_ALIASES["filesystem"] = "kbsite.file_broker:Transport"

app = Celery("cuebase")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["transcripts", "citations"])


def make_queue_folders() -> None:
    """Create the folders that the transport of the file queue needs."""
    for name in ("data_folder_in", "control_folder"):
        if folder := settings.CELERY_BROKER_TRANSPORT_OPTIONS.get(name):
            Path(folder).mkdir(parents=True, exist_ok=True, mode=0o700)


@celeryd_init.connect
def _prepare(**_: object) -> None:
    boot.join_database()
    make_queue_folders()


@before_task_publish.connect
def _prepare_to_send(**_: object) -> None:
    make_queue_folders()


@setup_logging.connect
def _use_django_logging(**_: object) -> None:
    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
