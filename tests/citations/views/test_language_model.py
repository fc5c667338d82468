"""An administrator chooses the language model on a page; nobody else, and never over the
environment.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from citations import conf
from citations.models import ChosenModel
from citations.providers import chat_services, local_servers, registry
from tests.html import assert_shows, text_of
from tests.makers import make_source, make_user, make_video, signed_in
from tests.scripted_model_server import Reply, ScriptedModelServer, events, whole
from transcripts.models import AuditEntry, Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fresh_registry")]

PAGE = "/ask/model/"
KEY = "sk-secret-0123456789"


@pytest.fixture(autouse=True)
def _free(settings: Any) -> Iterator[None]:
    """The environment names no language model, and none was looked for or chosen before."""
    settings.LLM_PROVIDER = ""
    ChosenModel.KNOWN.read_at = None
    local_servers.forget()
    yield
    ChosenModel.KNOWN.read_at = None
    local_servers.forget()


def _reply(body: dict[str, Any]) -> Reply:
    if not body:
        return Reply({"data": [{"id": "small", "owned_by": "llamacpp"}, {"id": "large"}]})
    words = ("It clicks off ", "at 96 degrees [1].")
    return Reply(events(*words)) if body.get("stream") else Reply(whole('{"degrees": 96}'))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModelServer]:
    """A model server on a known port of this machine."""
    with ScriptedModelServer(_reply) as standin:
        monkeypatch.setattr(local_servers, "PORTS", {_port(standin): ""})
        yield standin


@pytest.fixture
def admin(db: None) -> Client:
    return signed_in(make_user("grace", is_staff=True, is_superuser=True))


def _port(standin: ScriptedModelServer) -> int:
    return int(standin.url.rpartition(":")[2])


def _choose(admin: Client, standin: ScriptedModelServer, model: str = "small") -> Any:
    return admin.post(PAGE, {"port": _port(standin), "model": model}, follow=True)


def test_a_server_that_runs_is_offered_and_chosen_with_one_click(
    admin: Client, server: ScriptedModelServer
) -> None:
    offer = text_of(admin.get(PAGE, headers={"HX-Request": "true"}))
    assert "<html" not in offer
    assert "llama.cpp is running." in offer
    assert "Without a language model, answers are sentences of the sources" in offer
    assert_shows(_choose(admin, server), "small writes the answers now")
    choice = conf.llm()
    assert (choice.provider, choice.model, choice.is_stored) == ("openai", "small", True)
    llm = registry.llm()
    assert llm
    assert llm.name == "openai:small"
    assert_shows(admin.get(PAGE), "small writes the answers.")
    assert AuditEntry.objects.filter(kind="language model", thing="openai:small").exists()


def test_it_is_undone_as_easily(admin: Client, server: ScriptedModelServer) -> None:
    _choose(admin, server)
    assert_shows(admin.post(PAGE, {"stop": "1"}, follow=True), "own sentences again.")
    assert conf.llm().provider == conf.NO_LLM
    assert not ChosenModel.objects.exists()


def test_a_single_model_is_named(admin: Client, server: ScriptedModelServer) -> None:
    server.reply = lambda _: Reply({"data": [{"id": "gemma"}]})
    text = text_of(admin.get(PAGE))
    assert f"127.0.0.1:{_port(server)} is running with gemma. Write answers with it?" in text


def test_what_does_not_answer_is_not_used(admin: Client, server: ScriptedModelServer) -> None:
    server.reply = lambda body: Reply({"error": "out of memory"}, 400) if body else _reply(body)
    shown = _choose(admin, server)
    assert_shows(shown, "small does not answer, so it is not used.", "out of memory")
    assert conf.llm().provider == conf.NO_LLM


@pytest.mark.parametrize(
    "values",
    [
        {"port": "22", "model": "small"},
        {"port": "80@evil.example", "model": "small"},
        {"port": "{port}", "model": "other"},
        {"service": "http://evil.example", "key": "k"},
        {"base_url": "http://evil.example", "model": "small"},
        {},
    ],
)
def test_no_other_address_and_no_unknown_model_can_be_chosen(
    admin: Client, server: ScriptedModelServer, values: dict[str, str]
) -> None:
    sent = {name: value.format(port=_port(server)) for name, value in values.items()}
    assert_shows(admin.post(PAGE, sent, follow=True), "no longer there")
    assert server.paths == ["/v1/models"]
    assert not ChosenModel.objects.exists()


def test_the_environment_overrules_and_the_page_says_so(
    admin: Client, server: ScriptedModelServer, settings: Any
) -> None:
    _choose(admin, server)
    settings.LLM_PROVIDER, settings.LLM_MODEL = "anthropic", "claude-x"
    settings.ANTHROPIC_API_KEY = "k"
    assert conf.llm().model == "claude-x"
    assert_shows(admin.get(PAGE), "The environment names the language model, claude-x")
    assert_shows(_choose(admin, server, "large"), "The environment names the language model")
    settings.LLM_PROVIDER = "none"
    assert conf.llm().provider == conf.NO_LLM
    before = len(server.paths)
    assert_shows(admin.get(PAGE), "The environment forbids a language model")
    assert len(server.paths) == before


def test_a_key_of_a_service_is_stored_encrypted_and_shown_nowhere(
    admin: Client, server: ScriptedModelServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OPENAI_BASE_URL = f"{server.url}/v1"
    settings.OPENAI_API_KEY = "of-the-environment"
    monkeypatch.setattr(chat_services.OpenAiLlm, "home", "127.0.0.1")
    shown = admin.post(PAGE, {"service": "openai", "key": f" {KEY}\n", "model": ""}, follow=True)
    assert_shows(shown, "gpt-6-luna writes the answers now")
    row = ChosenModel.objects.get()
    assert KEY.encode() not in bytes(row.secret)
    assert conf.llm().key == KEY
    assert KEY not in text_of(admin.get(PAGE)) + repr(conf.llm()) + str(row)
    settings.SECRET_KEY = "another-one-" * 5
    ChosenModel.KNOWN.read_at = None
    assert conf.llm().key == ""


def test_the_key_of_the_environment_is_not_sent_to_a_chosen_server(
    admin: Client, server: ScriptedModelServer, settings: Any
) -> None:
    settings.OPENAI_API_KEY = KEY
    _choose(admin, server)
    made = chat_services.make(conf.llm())
    assert isinstance(made, chat_services.OpenAiLlm)
    assert made._server._secret == ""


def test_an_empty_key_is_refused(admin: Client) -> None:
    assert_shows(admin.post(PAGE, {"service": "openai"}, follow=True), "The key is empty.")


def test_only_administrators_see_and_choose(
    page: Client, owner: User, collection: Collection, server: ScriptedModelServer
) -> None:
    owner.is_staff = owner.is_superuser = False
    owner.save()
    for response in (page.get(PAGE), page.post(PAGE, {"stop": "1"})):
        assert response.status_code == 403
    assert PAGE not in text_of(page.get("/ask/"))
    assert server.paths == []


def test_the_page_ask_offers_one_where_there_is_none_and_waits_for_nothing(
    admin: Client, server: ScriptedModelServer, collection: Collection, settings: Any
) -> None:
    make_source(make_video(collection))
    assert f'hx-get="{PAGE}"' in text_of(admin.get("/ask/"))
    assert server.paths == []
    settings.LLM_PROVIDER = "none"
    assert f'hx-get="{PAGE}"' not in text_of(admin.get("/ask/"))


def test_a_chosen_model_only_writes_answers(admin: Client, server: ScriptedModelServer) -> None:
    _choose(admin, server)
    assert not conf.uses_context()
    assert not conf.uses_hyde()
    assert not conf.prepares_sources()


def test_the_page_says_what_a_chosen_model_does_not_do(
    admin: Client, server: ScriptedModelServer
) -> None:
    words = "only writes answers. To have it improve the search as well, name it in the environment"
    assert_shows(admin.get(PAGE), words)
    _choose(admin, server)
    assert_shows(admin.get(PAGE), words)


def test_a_model_is_named_by_its_file_not_by_the_folder(
    admin: Client, server: ScriptedModelServer
) -> None:
    server.reply = lambda body: (
        _reply(body)
        if body
        else Reply({"data": [{"id": "/home/ada/models/small.Q4.gguf", "owned_by": "llamacpp"}]})
    )
    assert_shows(admin.get(PAGE), "llama.cpp is running with small.Q4.gguf. Write answers with it?")
    assert_shows(_choose(admin, server, "small.Q4.gguf"), "small.Q4.gguf writes the answers now")
    chosen = text_of(admin.get(PAGE))
    assert "is running with" not in chosen  # what is used is not offered again
    assert "Another language model" in chosen


def test_an_empty_library_offers_one_on_the_first_visit(admin: Client, settings: Any) -> None:
    assert f'hx-get="{PAGE}"' in text_of(admin.get("/library/"))
    settings.LLM_PROVIDER = "none"
    assert f'hx-get="{PAGE}"' not in text_of(admin.get("/library/"))
