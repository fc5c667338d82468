"""Wherever an address is quoted, its secrets are not."""

import pytest

from transcripts.core.errors import Unavailable
from transcripts.core.sanitize import MASK, redact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://ann:pa55@host/v1", f"http://{MASK}@host/v1"),
        ("https://t0ken@host:8443", f"https://{MASK}@host:8443"),
        ("redis://:pa55@[::1]:6379/0", f"redis://{MASK}@[::1]:6379/0"),
        ("postgres://ann:p@55@host/name", f"postgres://{MASK}@host/name"),
        ("socks5h://ann:pa/55@host:1080", f"socks5h://{MASK}@host:1080"),
        ("http://ann:p#5?5@host", f"http://{MASK}@host"),
        ("http://ann:p'5\"5@host", f"http://{MASK}@host"),
        ("for http://a:b@c and http://d:e@f", f"for http://{MASK}@c and http://{MASK}@f"),
        ("https://host/v1?api_key=pa55&x=1", f"https://host/v1?api_key={MASK}&x=1"),
        ("/v1?X-Amz-Signature=pa55#end", f"/v1?X-Amz-Signature={MASK}#end"),
        ("'/done/?code=a-b&State=c'", f"'/done/?code={MASK}&State={MASK}'"),
    ],
)
def test_secrets_of_addresses_are_masked(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "https://www.youtube.com/@channel/videos",
        "http://127.0.0.1:8000/@channel",
        "https://host/v1?api-version=2024-06-01&v=dQw4w9WgXcQ&author=ann&keyword=x",
        "Write to ann@example.org: it costs 3:1 @ noon.",
    ],
)
def test_all_else_stays(text: str) -> None:
    assert redact(text) == text


def test_an_error_quotes_no_secret_of_an_address() -> None:
    error = Unavailable("http://ann:pa55@host does not answer.", hint="See ftp://ann:pa55@host.")
    assert "pa55" not in f"{error} {error.message} {error.hint} {error.text}"
