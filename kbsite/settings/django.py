"""Django's settings, and those of the whole installation."""

import re
import secrets
from contextlib import suppress
from ipaddress import ip_network
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured

from kbsite.languages import *
from kbsite.settings.access_settings import *
from kbsite.settings.access_settings import OIDC_APPS, PUBLIC_PATH
from kbsite.settings.database_settings import *
from kbsite.settings.database_settings import DATA_DIR
from kbsite.settings.engine_settings import *
from kbsite.settings.options import BASE_DIR as BASE_DIR
from kbsite.settings.options import OPTIONS as OPTIONS
from kbsite.settings.options import PACKAGE_DIR, option
from transcripts.core.work.disk import make_private_folder

# Where it listens

HOST = option("HOST", "127.0.0.1", "Address that `kb serve` listens on.")
PORT = option("PORT", 8000, "Port that `kb serve` listens on.", most=65_535)

# Security


def _stored_secret_key() -> str:
    path = DATA_DIR / "secret_key"
    try:
        if not path.is_file():
            make_private_folder(DATA_DIR)
            fresh = path.with_name(f"secret_key.{secrets.token_hex(4)}")
            fresh.touch(mode=0o600)
            fresh.write_text(secrets.token_urlsafe(50))
            try:
                with suppress(FileExistsError):  # of processes that start at once, the first wins
                    path.hardlink_to(fresh)
            finally:
                fresh.unlink()
        return path.read_text()
    except OSError as error:
        raise ImproperlyConfigured(
            f"YOUTUBE_KB_DATA_DIR cannot be {str(DATA_DIR)!r}: {error.strerror}"
        ) from error


_secret_key = option(
    "SECRET_KEY", "", "Key for sessions and links; empty: one in the data directory.", secret=True
)
SECRET_KEY = _secret_key or _stored_secret_key()
DEBUG = option("DEBUG", False, "Django's debug pages; never on a server that others can reach.")
ALLOWED_HOSTS = option(
    "ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"], "Host names that this server answers to."
)
CSRF_TRUSTED_ORIGINS = option(
    "CSRF_TRUSTED_ORIGINS", [], "Origins (https://kb.example.org) that may send forms or call MCP."
)
SECURE = option(
    "SECURE", False, "An HTTPS proxy sets X-Forwarded-Proto: secure cookies, HSTS, redirect."
)
TRUSTED_PROXIES = option(
    "TRUSTED_PROXIES", [], "Addresses or networks of proxies whose X-Forwarded-For is trusted."
)
for _proxy in TRUSTED_PROXIES:
    try:
        ip_network(_proxy)
    except ValueError as error:
        raise ImproperlyConfigured(
            f"TRUSTED_PROXIES cannot be {_proxy!r}: an address such as 10.0.0.7 or a network such "
            "as 10.0.0.0/28 is expected"
        ) from error

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = SECURE
# Supervisors ask within the machine or cluster.
SECURE_REDIRECT_EXEMPT = [rf"^({re.escape(PUBLIC_PATH[1:])}/)?(healthz|readyz)$"]
SECURE_HSTS_SECONDS = 31_536_000 if SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = SECURE
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SECURE else None
# YouTube's player refuses to play without a referrer.
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "media-src": ["'self'"],
        "font-src": ["'self'"],
        "manifest-src": ["'self'"],
        "connect-src": ["'self'"],
        "frame-src": ["https://www.youtube-nocookie.com"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

# Django

INSTALLED_APPS = [
    "oauth2_provider",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    *OIDC_APPS,
    "kbsite",
    "allauth",  # for its translations; its templates come after ours
    "citations",
    "transcripts",
    "kbsite.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "corsheaders",
    "csp",
    "django_filters",
    "django_htmx",
    "rest_framework",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "kbsite.middleware.responses.PublicGZipMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "kbsite.middleware.responses.PermissionsPolicyMiddleware",  # of pages, not of files
    "kbsite.middleware.responses.PrivacyMiddleware",
    "kbsite.middleware.responses.LocationMiddleware",
    "kbsite.telemetry.requests.RouteMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "kbsite.middleware.page_language.PageLanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "kbsite.accounts.auth.CallerMiddleware",
    "kbsite.accounts.auth.SignInRequiredMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "kbsite.middleware.rate_limits.CallLimitMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "kbsite.errors.ErrorMiddleware",
    "kbsite.operations.AccessMiddleware",
    "kbsite.middleware.conditional_requests.VersionMiddleware",
    "kbsite.middleware.idempotency.IdempotencyMiddleware",
    "kbsite.middleware.replica_reads.ReplicaReadsMiddleware",
]
ROOT_URLCONF = "kbsite.urls"
ASGI_APPLICATION = "kbsite.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [PACKAGE_DIR / "templates"],
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
CSRF_FAILURE_VIEW = "kbsite.pages.form_refusals.show"
TIME_ZONE = option("TIME_ZONE", "UTC", "Time zone in which times are shown.")
try:
    ZoneInfo(TIME_ZONE)
except (ZoneInfoNotFoundError, ValueError, OSError) as error:
    raise ImproperlyConfigured(
        f"TIME_ZONE cannot be {TIME_ZONE!r}: a name such as Europe/Berlin is expected"
    ) from error
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
STATIC_URL = f"{PUBLIC_PATH}/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [PACKAGE_DIR / "templates" / "static"]
WHITENOISE_USE_FINDERS = True  # no collectstatic before the first start
WEB_PAGE_RUNNER = "citations.tasks.run_page"  # of the jobs that fetch web pages
SPEECH_RUNNER = "citations.tasks.run_listening"  # of the jobs that listen to recordings
SPEECH_OFFER = "citations.listening.recognition.offer"  # how long that takes, if it can be done
DATA_UPLOAD_MAX_MEMORY_SIZE = 60 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = 2_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 3_000  # a thousand selected items, each with its title
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "kbsite.middleware.request_limits.TemporaryUpload",
]

# Being watched

METRICS_TOKEN = option(
    "METRICS_TOKEN", "", "Bearer token for /metrics; empty: superusers only.", secret=True
)
WORKER_METRICS_PORT = option(
    "WORKER_METRICS_PORT",
    0,
    "Port of HOST on which `kb worker` exposes its metrics, without a token; 0: none.",
    most=65_535,
)
AUDIT_DAYS = option("AUDIT_DAYS", 365, "Days for which the audit trail is kept; 0: forever.")
LOG_FORMAT = option(
    "LOG_FORMAT",
    "text",
    "Format of the log of servers and workers; plain: messages without time and logger.",
    among=("text", "plain", "json"),
)
OTEL_EXPORTER_OTLP_ENDPOINT = option(
    "OTEL_EXPORTER_OTLP_ENDPOINT", "", "OTLP/HTTP address for traces; empty: no tracing."
)
_is_json = LOG_FORMAT == "json"
_line = "{message}" if LOG_FORMAT == "plain" else "{asctime} {levelname} {name}: {message}"
_json = {
    "()": "pythonjsonlogger.json.JsonFormatter",
    "format": "{levelname} {name} {message} {request_id} {task} {job_id}",
    "style": "{",
    "timestamp": True,
    "rename_fields": {"levelname": "level", "name": "logger"},
}
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": _line, "style": "{"},
        **({"json": _json} if _is_json else {}),  # else its library would only cost time
    },
    "filters": {"origin": {"()": "kbsite.telemetry.logs.OriginFilter"}},
    "handlers": {
        "console": {
            "class": "kbsite.telemetry.logs.RedactedStream",
            "formatter": "json" if _is_json else "line",
            "filters": ["origin"],
        }
    },
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        **{name: {"level": "INFO"} for name in ("kbsite", "citations", "transcripts")},
        **{name: {"level": "WARNING"} for name in ("django", "uvicorn.access")},  # no addresses
        "kbsite.telemetry": {"level": "INFO" if _is_json else "WARNING"},
        "kombu.connection": {"level": "ERROR"},  # warns that a queue of files has no host
    },
}

# Jobs

_broker = option(
    "CELERY_BROKER_URL", "", "Redis or RabbitMQ; empty: files in the data directory.", secret=True
)
CELERY_BROKER_URL = _broker or "filesystem://"
WORKER_CONCURRENCY = option(
    "WORKER_CONCURRENCY", 2, "Jobs that one worker runs concurrently.", least=1
)
CELERY_IMPORTS = ["kbsite.retention", "kbsite.webhooks.delivery"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_TIMER_PRECISION = 0.2  # seconds; a worker that ends waits for its timer
CELERY_TASK_ACKS_LATE = True
# A task that cannot be published is published by the next sweep.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 2, "interval_start": 0, "interval_step": 0.2}
CELERY_TIMEZONE = TIME_ZONE
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    {
        "data_folder_in": str(DATA_DIR / "queue" / "messages"),
        "data_folder_out": str(DATA_DIR / "queue" / "messages"),
        "control_folder": str(DATA_DIR / "queue" / "control"),
        # Seconds between two polls; each takes one message for every free thread.
        "polling_interval": 0.1,
    }
    if CELERY_BROKER_URL == "filesystem://"
    else {}
)
CELERY_BEAT_SCHEDULER = "kbsite.celery:ElectedScheduler"
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "transcripts.tasks.sweep", "schedule": 5.0, "options": {"expires": 15}},
    "index": {"task": "citations.tasks.sweep", "schedule": 4.0, "options": {"expires": 12}},
    "tend": {"task": "citations.tasks.tend", "schedule": 60.0, "options": {"expires": 60}},
    "clear": {"task": "kbsite.retention.clear", "schedule": 300.0, "options": {"expires": 300}},
    "tell": {"task": "kbsite.webhooks.delivery.sweep", "schedule": 5.0, "options": {"expires": 15}},
    "sync-feeds": {
        "task": "transcripts.tasks.sync_due_feeds",
        "schedule": 300.0,
        "options": {"expires": 300},
    },
}

# Limits for each user

API_CALLS_PER_MINUTE = option(
    "API_CALLS_PER_MINUTE",
    1_200,
    "REST calls per minute per token, or per user without a token; 0: no limit.",
)
QUESTIONS_PER_MINUTE = option(
    "QUESTIONS_PER_MINUTE", 60, "Questions per minute over REST or in the browser; 0: no limit."
)
ADDITIONS_PER_MINUTE = option(
    "ADDITIONS_PER_MINUTE", 300, "Requests per minute that add files or addresses; 0: no limit."
)
STREAMS_AT_ONCE = option(
    "STREAMS_AT_ONCE", 20, "Event streams per user and process, such as open pages; 0: no limit."
)

# MCP

MCP_CALLS_PER_MINUTE = option(
    "MCP_CALLS_PER_MINUTE", 120, "MCP calls per minute and token; 0: no limit."
)
MCP_MAX_TOKENS = option(
    "MCP_MAX_TOKENS", 20_000, "Maximum tokens in a tool's result, unless the call sets a limit."
)

# REST: both halves, then the content API

CORS_ALLOWED_ORIGINS = option(
    "CORS_ALLOWED_ORIGINS", [], "Origins (https://app.example.org) whose pages may call REST."
)
CORS_URLS_REGEX = r"^/api/"
CORS_ALLOW_HEADERS = (
    *("authorization", "content-type", "idempotency-key", "if-match", "if-none-match"),
    "last-event-id",
)
CORS_EXPOSE_HEADERS = (
    *("Content-Disposition", "Cuebase-Note", "ETag", "Idempotent-Replayed", "Location"),
    *("RateLimit", "RateLimit-Policy", "Retry-After", "WWW-Authenticate"),
)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "kbsite.content.requests.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "EXCEPTION_HANDLER": "kbsite.errors.drf_exception_handler",
}
SPECTACULAR_SETTINGS = {
    "OAS_VERSION": "3.1.0",
    "POSTPROCESSING_HOOKS": [],  # enumerations stand where they are used
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
}
