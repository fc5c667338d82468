"""A server as those see it who come from outside, through its proxy: `kb doctor --url`.

Every finding names the line to change: of the settings, or of nginx; Caddy and Traefik do by
themselves what is said of nginx alone.
"""

import http.client
import re
import ssl
import time
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import SplitResult, urljoin, urlsplit

import httpx

from kbsite.health import HealthCheck
from transcripts.core.errors import InvalidInput

TIMEOUT: Final = 15.0  # seconds
LARGEST: Final = 500_000_000  # bytes of an upload that the settings allow unless they are changed
EARLY_SECONDS: Final = 3.0  # in which a proxy refuses an upload that is too large for it
APART_SECONDS: Final = 0.3  # that two events arrive apart, sent half a second after each other
Result = tuple[bool | None, str, str]  # ok, detail, hint


def check(address: str) -> list[HealthCheck]:
    """Check a server by its public address. Raises ``InvalidInput`` for what is none."""
    try:
        url = httpx.URL(address.rstrip("/"))
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        raise InvalidInput("This is no address of a server.", hint="Give one as https://host/path.")
    with httpx.Client(timeout=TIMEOUT) as client:
        return _Proxy(client, str(url)).check()


class _Proxy:
    def __init__(self, client: httpx.Client, url: str) -> None:
        self._client, self._url = client, url
        self._parts: SplitResult = urlsplit(url)
        self._name = self._parts.netloc

    def check(self) -> list[HealthCheck]:
        first = _run("Reachable", self._reachable)
        if not first.ok:
            return [first]
        checks = {
            "TLS": self._tls,
            "Address": self._passed_on,
            "Forms": self._forms,
            "Static files": self._static_files,
            "Streams": self._streams,
            "Uploads": self._uploads,
            "MCP": self._mcp,
            "OAuth": self._metadata,
        }
        return [first, *(_run(name, run) for name, run in checks.items())]

    def _get(self, path: str, **options: Any) -> httpx.Response:
        return self._client.get(f"{self._url}{path}", **options)

    def _seen(self) -> httpx.Response:
        parts = self._parts
        about = {"scheme": parts.scheme, "host": self._name, "path": parts.path, "url": self._url}
        return self._get("/healthz", params=about)

    def _reachable(self) -> Result:
        answer = self._seen()
        status = answer.status_code
        if status in (502, 503, 504):
            hint = "`kb serve` has to run, where the proxy looks for it: see HOST and PORT."
            return False, f"the proxy does not reach the server behind it ({status})", hint
        if answer.is_redirect:
            target = urljoin(self._url, answer.headers["location"])[:200]
            return False, f"leads to {target}", "Check that address instead, or end the redirect."
        if status in (400, 421):
            hint = f"Set ALLOWED_HOSTS={self._parts.hostname} and PUBLIC_URL={self._url}."
            return False, "the server does not answer to the name that reaches it", hint
        if not _json(answer):
            hint = (
                f"The proxy has to pass on {self._parts.path or '/'}; set PUBLIC_URL={self._url}."
            )
            return False, f"something else answers here ({status})", hint
        return True, self._url, ""

    def _tls(self) -> Result:
        if self._parts.scheme == "https":
            return True, "the certificate is valid", ""
        is_here = self._parts.hostname in ("127.0.0.1", "localhost", "::1")
        hint = "Caddy gets certificates by itself; for nginx, certbot does."
        return is_here or None, "none: everybody on the way can read passwords and tokens", hint

    def _passed_on(self) -> Result:
        seen = _json(self._seen())
        if not seen.get("host"):
            hint = "nginx: `proxy_set_header Host $http_host;`"
            return False, f"the proxy does not pass on the name {self._name}", hint
        if not seen.get("scheme"):
            hint = (
                "Set SECURE=true behind an HTTPS proxy. nginx: "
                "`proxy_set_header X-Forwarded-Proto $scheme;`"
            )
            return False, f"the server does not learn that it is {self._parts.scheme}", hint
        if not seen.get("path"):
            hint = f"Set PUBLIC_URL={self._url}: the site is served below its path."
            return False, "the server does not know its path", hint
        if not seen.get("url"):
            hint = f"Set PUBLIC_URL={self._url}: links, MCP and OAuth lead there."
            return False, "the server has another PUBLIC_URL", hint
        return True, "name, scheme and path are passed on", ""

    def _forms(self) -> Result:
        page = self._get("/sign-in/")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
        origin = f"{self._parts.scheme}://{self._name}"
        sent = {"csrfmiddlewaretoken": token[1] if token else ""}
        headers = {"Origin": origin, "Referer": f"{self._url}/sign-in/"}
        answer = self._client.post(f"{self._url}/sign-in/", data=sent, headers=headers)
        if page.is_success and answer.status_code == 200:
            return True, "are accepted", ""
        hint = f"Set CSRF_TRUSTED_ORIGINS={origin}."
        return False, f"are refused ({page.status_code}, {answer.status_code})", hint

    def _static_files(self) -> Result:
        links = re.findall(r'href="([^"]+\.css)"', self._get("/sign-in/").text)
        address = urljoin(f"{self._url}/", links[0] if links else "static/cuebase/base.css")
        answer = self._client.get(address)
        is_css = answer.headers.get("content-type", "").startswith("text/css")
        if answer.is_success and is_css and address.startswith(f"{self._url}/"):
            return True, "are served", ""
        hint = f"The proxy has to pass on {self._parts.path}/static/, too; PUBLIC_URL={self._url}."
        return False, f"are not at {address[:200]} ({answer.status_code})", hint

    def _streams(self) -> Result:
        times = []
        accepts = {"Accept": "text/event-stream"}
        with self._client.stream("GET", f"{self._url}/healthz", headers=accepts) as answer:
            for part in answer.iter_raw():
                times += [time.monotonic()] * part.count(b"data:")
        if len(times) > 1 and times[-1] - times[0] > APART_SECONDS:
            return True, "arrive as they are written", ""
        hint = "nginx: `proxy_buffering off;` Caddy: `flush_interval -1`; switch off caches, too."
        return False, "arrive all at once: answers and MCP's progress would, too", hint

    def _uploads(self) -> Result:
        parts = self._parts
        make: Callable[..., http.client.HTTPConnection] = http.client.HTTPConnection
        if parts.scheme == "https":
            make = http.client.HTTPSConnection
        connection = make(self._name, timeout=TIMEOUT)
        try:
            connection.putrequest("POST", f"{parts.path}/api/v1/sources/files")
            connection.putheader("Content-Type", "multipart/form-data; boundary=x")
            connection.putheader("Content-Length", str(LARGEST))
            connection.endheaders(b"--x\r\n")
            connection.sock.settimeout(EARLY_SECONDS)
            with connection.getresponse() as answer:
                kind, status = answer.getheader("Content-Type", ""), answer.status
                is_ours = kind.startswith("application/problem+json")
        except TimeoutError:
            is_ours, status = True, 0  # it waits for the rest
        except (ConnectionError, http.client.HTTPException):
            is_ours, status = False, 413  # closed at once
        finally:
            connection.close()
        if is_ours or status != 413:
            return True, f"the proxy lets {LARGEST // 1_000_000} MB through", ""
        hint = "nginx: `client_max_body_size 600m;` Traefik: `maxRequestBodyBytes`."
        return False, f"the proxy refuses {LARGEST // 1_000_000} MB", hint

    def _mcp(self) -> Result:
        answer = self._call()
        if answer.status_code == 401 and f'"{self._url}/' in answer.headers.get(
            "www-authenticate", ""
        ):
            return True, f"{self._url}/mcp", ""
        if answer.status_code == 421:
            return False, "does not answer to this name", f"Set ALLOWED_HOSTS={self._name}."
        if answer.status_code == 401:
            hint = f"Set PUBLIC_URL={self._url}."
            return False, "names another address for its metadata, or the proxy drops it", hint
        hint = f"The proxy has to pass on POST {self._parts.path}/mcp with all headers."
        return False, f"is not at {self._url}/mcp ({answer.status_code})", hint

    def _call(self) -> httpx.Response:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        return self._client.post(f"{self._url}/mcp", json=call)

    def _metadata(self) -> Result:
        challenge = self._call().headers.get("www-authenticate", "")
        address = re.search(r'resource_metadata="([^"]+)"', challenge)
        resource = _json(self._client.get(address[1])) if address else {}
        if resource.get("resource") != f"{self._url}/mcp":
            hint = f"Set PUBLIC_URL={self._url}; the proxy has to pass on /.well-known/."
            return False, "the metadata of MCP are missing or of another address", hint
        base, path = f"{self._parts.scheme}://{self._name}", self._parts.path
        at_root = f"{base}/.well-known/oauth-authorization-server{path}"
        if _json(self._client.get(at_root)).get("issuer") == self._url:
            return True, "metadata are complete", ""
        hint = f"Have the proxy pass on {urlsplit(at_root).path}, as RFC 8414 says."
        return None if path else False, f"no metadata at {at_root}", hint


def _run(name: str, run: Callable[[], Result]) -> HealthCheck:
    try:
        return HealthCheck(name, *run())
    except httpx.HTTPError as error:
        return HealthCheck(name, False, *_failure(error))
    except (OSError, ValueError) as error:
        return HealthCheck(name, False, type(error).__name__, "Look at the proxy's log.")


def _failure(error: BaseException) -> tuple[str, str]:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            hint = "The proxy needs a certificate for this name, with its whole chain."
            return f"the certificate is not valid: {cause.verify_message}", hint
        cause = cause.__cause__ or cause.__context__
    hint = "Is the name in the DNS, is the proxy running, and does the firewall let it be reached?"
    return f"no answer ({type(error).__name__})", hint


def _json(answer: httpx.Response) -> dict[str, Any]:
    try:
        data = answer.json() if answer.is_success else None
    except (ValueError, RecursionError):
        data = None
    return data if isinstance(data, dict) else {}
