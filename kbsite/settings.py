"""Every setting, read once from the environment (and from a `.env` file beside manage.py). All are optional.

`OPTIONS` is the table of them: `kb config` prints it, the README documents it, and a test compares the two.
"""

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import environ
from django.core.exceptions import ImproperlyConfigured
from platformdirs import user_data_path

from kbsite import postgres

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env", overwrite=False)


@dataclass(frozen=True, slots=True)
class Option:
    """One setting: its name in the environment, what it is for, whether its value is a secret."""

    name: str
    default: Any
    meaning: str
    secret: bool = False

    @property
    def is_set(self) -> bool:
        """Whether the environment gives a value, or the default holds."""
        return self.name in env.ENVIRON


OPTIONS: dict[str, Option] = {}


def _option(
    name: str,
    default: Any,
    meaning: str,
    *,
    secret: bool = False,
    least: int = 0,
    most: float = math.inf,
    among: Sequence[str] = (),
) -> Any:
    OPTIONS[name] = Option(name=name, default=default, meaning=meaning, secret=secret)
    try:
        value = _READERS.get(type(default), env.str)(name, default=default)
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name} cannot be {env.str(name)!r}: {_EXPECTED[type(default)]} is expected ({meaning})"
        ) from error
    if type(default) in (int, float) and not least <= value <= most:
        bounds = f"{least} or more" if most == math.inf else f"{least} to {most}"
        raise ImproperlyConfigured(f"{name} cannot be {value}: {bounds} is expected ({meaning})")
    if among and value not in among:
        raise ImproperlyConfigured(
            f"{name} cannot be {value!r}: {', '.join(among[:-1])} or {among[-1]} is expected ({meaning})"
        )
    return value


_READERS = {bool: env.bool, int: env.int, float: env.float, list: env.list}
_EXPECTED = {bool: "true or false", int: "a whole number", float: "a number"}


# Where things are

_data_dir = _option(
    "YOUTUBE_KB_DATA_DIR",
    "",
    "Where the embedded database and the queue live; empty: the platform's user data directory.",
)
DATA_DIR = Path(_data_dir or user_data_path("cuebase"))
DATABASE_URL = _option(
    "DATABASE_URL",
    "",
    "An external PostgreSQL with pgvector, as postgres://user:password@host/name; empty: the embedded one.",
    secret=True,
)
PUBLIC_URL = _option(
    "PUBLIC_URL",
    "http://127.0.0.1:8000",
    "The address people reach this server at; links and the MCP address are made from it.",
)
HOST = _option("HOST", "127.0.0.1", "The address that `kb serve` listens on.")
PORT = _option("PORT", 8000, "The port that `kb serve` listens on.", most=65_535)

# Security


def _stored_secret_key() -> str:
    path = DATA_DIR / "secret_key"
    try:
        return path.read_text() if path.is_file() else _make_secret_key(path)
    except OSError as error:
        raise ImproperlyConfigured(
            f"YOUTUBE_KB_DATA_DIR cannot be {str(DATA_DIR)!r}: {error.strerror}"
        ) from error


def _make_secret_key(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"secret_key.{secrets.token_hex(4)}")
    fresh.touch(mode=0o600)
    fresh.write_text(secrets.token_urlsafe(50))
    try:
        path.hardlink_to(fresh)  # of several processes that start at once, the first wins
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
    return path.read_text()


_secret_key = _option(
    "SECRET_KEY",
    "",
    "Signs sessions and links; empty: made once and kept in the data directory.",
    secret=True,
)
SECRET_KEY = _secret_key or _stored_secret_key()
DEBUG = _option("DEBUG", False, "Django's debug pages; never on a server others can reach.")
ALLOWED_HOSTS = _option(
    "ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"], "Host names this server answers to."
)
CSRF_TRUSTED_ORIGINS = _option(
    "CSRF_TRUSTED_ORIGINS",
    [],
    "Origins, such as https://kb.example.org, that may send forms and MCP calls.",
)
SECURE = _option(
    "SECURE",
    False,
    "Served over HTTPS (behind a proxy that sets X-Forwarded-Proto): secure cookies, HSTS, redirect.",
)

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = SECURE
SECURE_HSTS_SECONDS = 31_536_000 if SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = SECURE
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SECURE else None
SECURE_REFERRER_POLICY = (
    "strict-origin-when-cross-origin"  # YouTube's player refuses to play without a referrer
)
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "frame-src": ["https://www.youtube-nocookie.com"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

# Django

INSTALLED_APPS = [
    "kbsite",
    "citations",
    "transcripts",
    "kbsite.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "django_filters",
    "django_htmx",
    "ninja",
    "rest_framework",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "kbsite.auth.CallerMiddleware",
    "kbsite.auth.SignInRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "kbsite.errors.ErrorMiddleware",
]
ROOT_URLCONF = "kbsite.urls"
ASGI_APPLICATION = "kbsite.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "library"
LOGOUT_REDIRECT_URL = "sign-in"
CSRF_FAILURE_VIEW = "kbsite.views.form_expired"
LANGUAGE_CODE = "en"
TIME_ZONE = _option("TIME_ZONE", "UTC", "The time zone that times are shown in.")
try:
    ZoneInfo(TIME_ZONE)
except (ZoneInfoNotFoundError, ValueError, OSError) as error:
    raise ImproperlyConfigured(
        f"TIME_ZONE cannot be {TIME_ZONE!r}: a name such as Europe/Berlin is expected"
    ) from error
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "templates" / "static"]
WHITENOISE_USE_FINDERS = True  # no collectstatic before the first start
DATA_UPLOAD_MAX_MEMORY_SIZE = 60 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = 2_000
SESSION_ENGINE = "django.contrib.sessions.backends.db"

if DATABASE_URL and DATABASE_URL.partition("://")[0] not in {
    "postgres",
    "postgresql",
    "psql",
    "pgsql",
}:
    raise ImproperlyConfigured(
        "DATABASE_URL is no address of a PostgreSQL: postgres://user:password@host/name is expected"
    )
_database: dict[str, Any] = (
    dict(env.db("DATABASE_URL")) if DATABASE_URL else postgres.database_settings(DATA_DIR)
)
DB_POOL_SIZE = _option(
    "DB_POOL_SIZE", 20, "Database connections that one process may hold at most.", least=1
)
DATABASES = {
    "default": {
        **_database,
        "ENGINE": "django.db.backends.postgresql",
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            **_database.get("OPTIONS", {}),
            "pool": {"min_size": 1, "max_size": DB_POOL_SIZE, "timeout": 20},
        },
    }
}

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        **{name: {"level": "INFO"} for name in ("kbsite", "citations", "transcripts")},
        "kombu.connection": {"level": "ERROR"},  # it warns that a queue of files has no host
    },
}

# Reading and searching a transcript (the plugin's settings)

CHUNK_SIZE_SECONDS = _option(
    "CHUNK_SIZE_SECONDS", 300, "Length of a time chunk.", least=10, most=86_400
)
PREVIEW_LENGTH = _option(
    "PREVIEW_LENGTH", 500, "Characters of a transcript too long to be shown whole.", least=1
)
MAX_FULL_TRANSCRIPT_LENGTH = _option(
    "MAX_FULL_TRANSCRIPT_LENGTH", 50_000, "Up to so many characters a transcript is read whole."
)
SEARCH_SEGMENT_SECONDS = _option(
    "SEARCH_SEGMENT_SECONDS",
    30,
    "Length of the segments that a search within a transcript ranks.",
    least=1,
    most=86_400,
)

# The knowledge engine: models and search

EMBEDDING_PROVIDER = _option(
    "EMBEDDING_PROVIDER",
    "local",
    "Who makes the vectors: local, voyage, openai, bge, bge-base or ollama. The first ingest locks the library to it.",
)
EMBEDDING_MODEL = _option(
    "EMBEDDING_MODEL",
    "",
    "Another model of that provider, by name (or folder, for a local one); empty: its usual one.",
)
EMBEDDING_DIMENSIONS = _option(
    "EMBEDDING_DIMENSIONS",
    0,
    "Length of the vectors of a remote model that is not a provider's usual one; 0: known.",
    most=4_000,
)
MODELS_DIR = Path(
    _option(
        "MODELS_DIR",
        "",
        "Where models made ready for this machine are kept; empty: in the data directory.",
    )
    or DATA_DIR / "models"
)
MODEL_THREADS = _option(
    "MODEL_THREADS",
    2,
    "Threads of one call of a local model: 1 serves many at once a little better, more of them one at a time sooner.",
    least=1,
    most=64,
)
RERANKER = _option(
    "RERANKER",
    "cross-encoder/ms-marco-MiniLM-L-12-v2",
    "The cross-encoder that orders the best candidates, if it is on this machine; none: off.",
)
RERANK_CANDIDATES = _option(
    "RERANK_CANDIDATES", 50, "How many candidates it looks at.", least=1, most=200
)
LLM_PROVIDER = _option(
    "LLM_PROVIDER",
    "none",
    "A language model for HyDE and for the context of chunks: none, openai, anthropic or ollama.",
)
LLM_MODEL = _option("LLM_MODEL", "", "Which of its models; empty: a small one that is known to do.")
LLM_BASE_URL = _option(
    "LLM_BASE_URL",
    "",
    "The address of any server that speaks the provider's API; empty: the provider's own.",
)
LLM_CONTEXT_TOKENS = _option(
    "LLM_CONTEXT_TOKENS",
    0,
    "How much it reads at once, in tokens; 0: 90,000 of a known service, 8,000 of another server.",
    most=1_000_000,
)
LLM_CONCURRENCY = _option(
    "LLM_CONCURRENCY",
    4,
    "Questions that are out to it at once while contexts are written.",
    least=1,
    most=64,
)
DISABLE_CONTEXTUAL_RETRIEVAL = _option(
    "DISABLE_CONTEXTUAL_RETRIEVAL",
    False,
    "Do not have a language model write a context for each chunk.",
)
DISABLE_HYDE = _option(
    "DISABLE_HYDE", False, "Do not have a language model write a hypothetical answer to look for."
)
UNSUPPORTED_CLAIMS = _option(
    "UNSUPPORTED_CLAIMS",
    "drop",
    "What becomes of a claim of the language model that no quote bears out: drop, or mark (shown as such).",
    among=("drop", "mark"),
)
VOYAGE_API_KEY = _option("VOYAGE_API_KEY", "", "Key of Voyage AI.", secret=True)
OPENAI_API_KEY = _option(
    "OPENAI_API_KEY",
    "",
    "Key of OpenAI, or of the server at LLM_BASE_URL or OPENAI_BASE_URL.",
    secret=True,
)
ANTHROPIC_API_KEY = _option("ANTHROPIC_API_KEY", "", "Key of Anthropic.", secret=True)
VOYAGE_BASE_URL = _option(
    "VOYAGE_BASE_URL", "https://api.voyageai.com/v1", "Where Voyage AI's API is."
)
OPENAI_BASE_URL = _option(
    "OPENAI_BASE_URL",
    "https://api.openai.com/v1",
    "Where OpenAI's API is, or another server that speaks it.",
)
OLLAMA_BASE_URL = _option("OLLAMA_BASE_URL", "http://127.0.0.1:11434", "Where Ollama answers.")
MODEL_TIMEOUT_SECONDS = _option(
    "MODEL_TIMEOUT_SECONDS", 30.0, "How long one answer of a model's server may take."
)

# Documents and live lectures

MAX_DOCUMENT_BYTES = _option(
    "MAX_DOCUMENT_BYTES",
    200_000_000,
    "The largest PDF, Markdown, text or HTML file that is taken.",
    least=1,
)
MAX_DOCUMENT_PAGES = _option(
    "MAX_DOCUMENT_PAGES", 5_000, "The most pages that a document may have.", least=1
)
LIVE_DISTANCE_THRESHOLD = _option(
    "LIVE_DISTANCE_THRESHOLD",
    1.5,
    "Squared L2 distance (0 to 4) from which on a lecture cites nothing, unless `kb calibrate` found one for the library.",
    most=4,
)
LIVE_RELEVANCE_THRESHOLD = _option(
    "LIVE_RELEVANCE_THRESHOLD",
    0.5,
    "The cross-encoder's score (0 to 1) below which a passage is not cited.",
    most=1,
)
LIVE_OFF_TOPIC_CONFIDENCE = _option(
    "LIVE_OFF_TOPIC_CONFIDENCE",
    0.8,
    "How sure (0 to 1) the gate must be that talk is off-topic; 1: it lets all pass.",
    most=1,
)
LIVE_KEYWORDS = _option(
    "LIVE_KEYWORDS",
    "fast",
    "What finds a window's keywords: fast (nearly KeyBERT's, several times sooner), keybert (the library itself, which loads torch) or none.",
    among=("fast", "keybert", "none"),
)
LIVE_RERANKER = _option(
    "LIVE_RERANKER",
    "cross-encoder/ms-marco-TinyBERT-L-2-v2",
    "The cross-encoder of live lectures, if it is on this machine; none: off.",
)

# YouTube

TRANSCRIPT_LANGUAGES = _option(
    "TRANSCRIPT_LANGUAGES", ["en"], "Caption languages, most wanted first; en matches en-GB."
)
PROXY_URL = _option("PROXY_URL", "", "Proxy for everything asked of YouTube.", secret=True)
YOUTUBE_PACING_SECONDS = _option(
    "YOUTUBE_PACING_SECONDS", 12.0, "Usual pause between two videos asked of YouTube."
)
YOUTUBE_TIMEOUT_SECONDS = _option(
    "YOUTUBE_TIMEOUT_SECONDS", 20.0, "How long one answer of YouTube may take."
)
YOUTUBE_MAX_BYTES = _option(
    "YOUTUBE_MAX_BYTES", 20_000_000, "The largest answer of YouTube that is read."
)
MAX_UPLOAD_BYTES = _option(
    "MAX_UPLOAD_BYTES", 20_000_000, "The largest caption file that is taken."
)

# Jobs

CELERY_BROKER_URL = (
    _option(
        "CELERY_BROKER_URL",
        "",
        "Redis or RabbitMQ; empty: a queue of files in the data directory.",
        secret=True,
    )
    or "filesystem://"
)
WORKER_CONCURRENCY = _option("WORKER_CONCURRENCY", 2, "Jobs that one worker runs at once.", least=1)
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_PUBLISH_RETRY_POLICY = {
    "max_retries": 2,
    "interval_start": 0,
    "interval_step": 0.2,
}  # the sweeper sends it later
CELERY_TIMEZONE = TIME_ZONE
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    {
        "data_folder_in": str(DATA_DIR / "queue" / "messages"),
        "data_folder_out": str(DATA_DIR / "queue" / "messages"),
        "control_folder": str(DATA_DIR / "queue" / "control"),
        "polling_interval": 0.1,  # seconds between two looks into the folder; each takes up one message for every free thread
    }
    if CELERY_BROKER_URL == "filesystem://"
    else {}
)
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "transcripts.tasks.sweep", "schedule": 5.0, "options": {"expires": 15}},
    "index": {"task": "citations.tasks.sweep", "schedule": 4.0, "options": {"expires": 12}},
    "tend": {"task": "citations.tasks.tend", "schedule": 60.0, "options": {"expires": 60}},
    "sync-feeds": {
        "task": "transcripts.tasks.sync_due_feeds",
        "schedule": 300.0,
        "options": {"expires": 300},
    },
}

# MCP

MCP_CALLS_PER_MINUTE = _option(
    "MCP_CALLS_PER_MINUTE", 120, "Calls that one token may make in a minute."
)
MCP_MAX_TOKENS = _option(
    "MCP_MAX_TOKENS",
    20_000,
    "Tokens that one tool's answer has at most, unless the call asks for fewer or more.",
)

# The content API

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "kbsite.content.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_FILTER_BACKENDS": [
        "django_filters.rest_framework.DjangoFilterBackend",
        "rest_framework.filters.SearchFilter",
        "rest_framework.filters.OrderingFilter",
    ],
    "DEFAULT_PAGINATION_CLASS": "kbsite.content.Pages",
    "EXCEPTION_HANDLER": "kbsite.errors.drf_exception_handler",
    "PAGE_SIZE": 25,
}
