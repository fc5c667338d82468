"""Libraries that earlier versions wrote, and the ids and texts that are in them."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "kbsite.settings.django",
    "SECRET_KEY": "only-for-tests-" * 4,
    "ALLOWED_HOSTS": "testserver,127.0.0.1",
    "EMBEDDING_PROVIDER": "fake",
    "RERANKER": "none",
    "LIVE_RERANKER": "none",
    "LLM_PROVIDER": "none",
}
