"""The project's settings, over a PostgreSQL of this run's own: the embedded one in a new folder, or
the one DATABASE_URL names.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

HOME = tempfile.mkdtemp(
    prefix="cuebase-tests-"
)  # each process of a parallel run has its own, with its own server
os.environ["YOUTUBE_KB_DATA_DIR"] = HOME
os.environ["SECRET_KEY"] = "only-for-tests-" * 4
os.environ["YOUTUBE_PACING_SECONDS"] = "0"
os.environ["HF_HOME"] = str(Path(HOME) / "hub")  # no model that somebody fetched changes a test
for _name in ("PROXY_URL", "CELERY_BROKER_URL", "PUBLIC_URL", "SECURE"):
    os.environ.pop(_name, None)
atexit.register(shutil.rmtree, HOME, ignore_errors=True)

from kbsite.settings.django import *  # noqa: E402, F403

INSTALLED_APPS += [  # noqa: F405
    "allauth.socialaccount.providers.openid_connect",
    "tests.quick_flush",
]

EMBEDDING_PROVIDER = "fake"  # tests of meaning name the real one
LLM_PROVIDER = "none"
SPEECH_PROVIDER = "none"  # tests of speech name the real one
API_CALLS_PER_MINUTE = QUESTIONS_PER_MINUTE = ADDITIONS_PER_MINUTE = 0  # tests hurry
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STATIC_ROOT.mkdir(exist_ok=True)  # noqa: F405  WhiteNoise warns where it is missing
if not DATABASE_URL:  # noqa: F405
    DATABASES["default"]["TEST"] = {"TEMPLATE": DATABASES["default"]["NAME"]}  # noqa: F405
WHITENOISE_AUTOREFRESH = True  # each client would list all static files anew
