"""What the OpenAPI description promises, tried with generated calls; and that no operation is
forgotten by the walks.
"""

import re
from collections import Counter
from copy import deepcopy
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.db import OperationalError, connection, connections
from django.http import StreamingHttpResponse
from django.test import Client
from django.test.client import ClientHandler
from schemathesis import engine
from schemathesis.engine import events

from kbsite.api import api
from kbsite.content.views import router
from kbsite.middleware.idempotency import HEADER
from kbsite.models import ApiToken, Webhook
from tests import doors
from tests.doors import Door, House, entry, furnish
from tests.kbsite import declared
from tests.kbsite.declared import V1
from tests.kbsite.oauth.program import Program
from tests.makers import token_client
from transcripts.core.access import AccessLevel
from transcripts.models import YouTubeGate

ALL = "/"
CONTENT = "/api/content/"
# A page of the reference has forms, and with them another token each time.
API = [door for door in (*doors.OPERATIONS, *doors.CONTENT) if "<slug" not in door.route]
OF_ALL_LISTS = (
    *("limit", "offset", "fields", "sort", "created_at", HEADER),
    *("If-Match", "If-None-Match"),
)
# Why an answer is empty, in ``test_lectures``; the challenge to a narrow token, in ``test_flow``.
ELSEWHERE = {"cuebase-note", "www-authenticate", "retry-after"}
TIMED = "api/v1/search"  # its answer says how long it took
CITED = ("sessions/{session_id}/citations", "citations/{citation_id}", "quotations/{quotation_id}")


@pytest.fixture(scope="module")
def furnished(rows_of_module: None, django_db_blocker: Any) -> House:
    with django_db_blocker.unblock():
        return furnish()


@pytest.fixture
def house(db: None, furnished: House) -> House:
    return deepcopy(furnished)


@pytest.fixture
def managing(house: House) -> dict[str, str]:
    """The headers of a program that may do whatever the owner may, and made the webhook."""
    token, text = ApiToken.issue(house.owner, name="walk", access=AccessLevel.MANAGE)
    Webhook.objects.update(token=token)
    return {"Authorization": f"Bearer {text}"}


def test_the_walk_knows_every_operation_that_is_described() -> None:
    described = {
        f"{method.upper()} {path}"
        for path, methods in declared.document()["paths"].items()
        for method in methods
    }
    walked = {entry(door) for door in API}
    assert walked - described == {f"GET {V1}docs", f"GET {V1}openapi.json", f"GET {CONTENT}"}
    assert described <= walked


def test_every_resource_of_the_content_is_described() -> None:
    served = {
        (method, f"{CONTENT}{prefix}/" + ("{}/" if "{lookup}" in route.url else ""))
        for prefix, viewset, _ in router.registry
        for route in router.get_routes(viewset)
        for method, action in route.mapping.items()
        if hasattr(viewset, action) and method in viewset.http_method_names
    }
    described = {
        (method, re.sub(r"{.*?}", "{}", path))
        for path, methods in api.get_openapi_schema(path_prefix=V1)["paths"].items()
        for method in methods
        if path.startswith(CONTENT)
    }
    assert described == served


@pytest.mark.parametrize("door", API, ids=str)
def test_every_call_of_the_walk_is_a_good_one_and_sends_what_is_declared(
    house: House, managing: dict[str, str], settings: Any, door: Door
) -> None:
    settings.API_CALLS_PER_MINUTE = settings.QUESTIONS_PER_MINUTE = 600
    settings.ADDITIONS_PER_MINUTE = 600

    def walk(**headers: str) -> Any:
        return house.send(Client(headers={**managing, **headers}), door)

    key = {"Idempotency-Key": "walk"} if door.method == "POST" else {}
    response = walk(**key)
    assert response.status_code in (200, 201, 202, 204), response.content
    sent = declared.sent_by(response)
    if key:
        sent |= declared.sent_by(walk(**key))
    if "ETag" in response and not door.route.startswith(TIMED):
        assert walk(**{"If-None-Match": response["ETag"]}).status_code == 304
    assert sent >= declared.headers_of(response).keys() - ELSEWHERE


@pytest.mark.parametrize(
    "door", [door for door in API if door.method in ("PUT", "PATCH", "DELETE")], ids=str
)
def test_what_is_declared_to_take_a_version_refuses_another(
    house: House, managing: dict[str, str], door: Door
) -> None:
    response = house.send(Client(headers={**managing, "If-Match": '"another"'}), door)
    described = declared.operation_of(door.method, response.wsgi_request.path)
    assert described
    is_declared = "412" in described["responses"]
    assert (response.status_code == 412) == is_declared


def test_each_header_of_a_refusal_is_sent_in_some_case(
    owner: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program()
    tokens = program.exchange(program.ask(owner, {"access": "read"}, resource="")).json()
    reading = Client(headers={"Authorization": f"Bearer {tokens['access_token']}"})
    asking = token_client(owner)
    asking.raise_request_exception = False
    answers = [Client().get(f"{V1}youtube"), reading.post(f"{CONTENT}collections/")]
    with monkeypatch.context() as patch:
        patch.setattr(YouTubeGate, "current", _lose_database)
        answers.append(asking.get(f"{V1}youtube"))
    settings.API_CALLS_PER_MINUTE = 1
    answers += [asking.get(f"{V1}jobs/0"), asking.get(f"{V1}youtube")]
    for answer in answers:
        declared.check(answer)
    sent = {(str(each.status_code), name) for each in answers for name in declared.sent_by(each)}
    described = {
        (status, name.lower())
        for status, answer in declared.document()["components"]["responses"].items()
        for name in answer["headers"]
    }
    # ``test_idempotency`` has the key that is in use.
    missing = described - sent - {("409", "retry-after")}
    assert {name for _, name in missing} == {"ratelimit", "ratelimit-policy"}
    assert {("422", "ratelimit"), ("429", "ratelimit-policy")} <= sent


def _lose_database() -> None:
    raise OperationalError("the server closed the connection")


@pytest.mark.parametrize(
    ("phase", "part", "known"),
    [
        ("examples", ALL, False),
        ("coverage", V1, False),
        ("coverage", CONTENT, False),
        ("fuzzing", ALL, True),
        ("fuzzing", ALL, False),
        ("stateful", ALL, True),
        ("stateful", ALL, False),
    ],
)
def test_generated_calls_find_no_crash_and_no_answer_that_is_not_described(
    house: House, managing: dict[str, str], phase: str, part: str, known: bool
) -> None:
    document = Client(headers=managing).get(f"{V1}openapi.json").json()
    ids = {path: _ids(path, house) for path in document["paths"]} if known else {}
    if phase == "coverage":
        paths = {path: value for path, value in document["paths"].items() if path.startswith(part)}
        document["paths"] = _with_few_conditions(paths)
    schema = schemathesis.openapi.from_dict(document, config=_config(phase, managing, ids))
    schema.app, schema.location = _in_one_transaction, f"{V1}openapi.json"
    connection.inc_thread_sharing()
    try:
        calls = sum((_run(part) for part in _parts(schema, phase, known)), Counter())
    finally:
        connection.dec_thread_sharing()
    assert {200, 422} <= {status for _, status in calls}
    if known and phase == "fuzzing":
        succeeding = {operation for operation, status in calls if status < 300}
        assert {f"GET {V1}{path}" for path in CITED} <= succeeding


def _ids(path: str, house: House) -> dict[str, Any]:
    """Return the parameters in a path, with what they stand for."""
    values = house.values(path)
    return {
        name: value if isinstance(value := values[name], int) else str(value)
        for name in re.findall(r"{(\w+)}", path)
    }


def _parts(schema: Any, phase: str, known: bool) -> list[Any]:
    """Return what is tried in turn: what is deleted last is there for the other calls."""
    deletes, others = schema.include(method="DELETE"), schema.exclude(method="DELETE")
    if phase == "stateful":  # without its collection nothing is there any more
        whole = schema.exclude(method="DELETE", path_regex="/(collections|memberships)/")
        return [others if known else whole]
    return [others, deletes] if known else [schema]


def _with_few_conditions(paths: dict[str, Any]) -> dict[str, Any]:
    """Leave out what works alike, since it takes long: what all lists take, after the first of
    them; conditions of a list's further fields; and the longest lists of names.

    The other phases try each.
    """
    tried: set[str] = set()
    for operation in (operation for methods in paths.values() for operation in methods.values()):
        names = [parameter["name"] for parameter in operation.get("parameters", ())]
        fields = dict.fromkeys(name.split("__")[0] for name in names if "__" in name)
        left_out = (*tried, *(f"{field}__" for field in list(fields)[1:]))
        operation["parameters"] = [
            parameter
            for parameter in operation.get("parameters", ())
            if not left_out or not parameter["name"].startswith(left_out)
        ]
        tried |= {known for known in OF_ALL_LISTS for name in names if name.startswith(known)}
        for schema in (parameter.get("schema", {}) for parameter in operation["parameters"]):
            if "pattern" in schema:  # no lists of names of about the longest length
                schema.pop("maxLength", None)
    return paths


def _config(
    phase: str, headers: dict[str, str], ids: dict[str, dict[str, Any]]
) -> schemathesis.Config:
    """Return the settings of a run: one phase, all checks but three, the same calls each time."""
    ordering = "none" if ids else "auto"  # auto begins with the collection, also to delete it
    of_phase: dict[str, dict[str, Any]] = {
        "examples": {"fill-missing": True},
        "coverage": {"unexpected-methods": ["PATCH", "TRACE"]},
        "fuzzing": {"generation": {"max-examples": 4}, "operation-ordering": ordering},
        "stateful": {"generation": {"max-examples": 30}, "max-steps": 8},
    }
    return schemathesis.Config.from_dict(
        {
            "seed": 15,
            "headers": headers,
            "continue-on-failure": True,
            "suppress-health-check": ["all"],
            "generation": {"deterministic": True, "no-shrink": True, "database": "none"},
            "phases": {name: {"enabled": name == phase, **of_phase[name]} for name in of_phase},
            "checks": {
                # A model that a search needs may not be there, which is described.
                "not_a_server_error": {"expected-statuses": ["2xx", "3xx", "4xx", "503"]},
                # What is described is not all that may be wrong: an address of no video, a name
                # that is taken, fields that exclude each other.
                "positive_data_acceptance": {"enabled": False},
                # Nor is everything else refused: an empty filter is none, 0 is read as false, and
                # headers that nobody knows are everywhere.
                "negative_data_rejection": {"enabled": False},
                # This release of schemathesis cannot repeat a call of WSGI without the token;
                # ``tests/journeys/test_isolation.py`` calls every operation as a stranger.
                "ignored_auth": {"enabled": False},
            },
            "operations": [
                {
                    "include-path": path,
                    "parameters": {f"path.{key}": ids[path][key] for key in keys},
                }
                for path, keys in ids.items()
                if keys
            ],
        }
    )


def _run(schema: Any) -> Counter[tuple[str, int]]:
    """Make the calls; return how often each operation gave which status. Fails on a problem."""
    calls: Counter[tuple[str, int]] = Counter()
    problems: dict[tuple[str, str | None], str] = {}
    for event in engine.from_schema(schema).execute():
        if isinstance(event, events.FatalError):
            raise event.exception
        if isinstance(event, events.NonFatalError):
            problems["engine", event.label] = event.info.format()
        if not isinstance(event, events.ScenarioFinished):
            continue
        recorder = event.recorder
        for key, interaction in recorder.interactions.items():
            label = recorder.cases[key].value.operation.label
            calls[label, interaction.response.status_code if interaction.response else 0] += 1
        for check in (check for checks in recorder.checks.values() for check in checks):
            if info := check.failure_info:
                problems[check.name, event.label] = f"{info.failure}\n{info.code_sample}"
    assert not problems, "\n".join(map(str, problems.values()))
    return calls


HANDLER = ClientHandler(enforce_csrf_checks=False)
# The engine calls from threads of its own, and the rows are of this test's transaction alone.
_shared = connections["default"]


def _in_one_transaction(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    connections["default"] = _shared
    return application(environ, start_response)


def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """Serve as WSGI asks, but inside this test's transaction: Django's own handler would close the
    connection after each request.

    Of a stream of events, which goes on for long, nothing is read.
    """
    environ.pop("HTTP_ACCEPT_ENCODING", None)  # Schemathesis does not decompress
    response: Any = HANDLER(environ)
    declared.check(response)
    start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
    return [b"" if isinstance(response, StreamingHttpResponse) else response.getvalue()]
