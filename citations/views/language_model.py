"""The page on which an administrator chooses the language model that writes answers."""

from dataclasses import replace
from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from citations import conf
from citations.conf import LlmChoice
from citations.models import ChosenModel
from citations.providers import chat_services, local_servers, trial
from citations.providers.llm import RemoteLlm
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import Forbidden, InvalidInput, KnowledgeBaseError, Unavailable
from transcripts.core.sanitize import clean
from transcripts.core.translation import translated_error
from transcripts.core.views.requests import PageRequest, fragment, redirect_with_message

SERVICES: Final = {"openai": "OpenAI", "anthropic": "Anthropic"}
MAX_KEY: Final = 300  # characters
_LOOK_SECONDS: Final = 1.5  # for servers on this machine, while the page around it is shown
_TRY_SECONDS: Final = 60.0  # in which a server may load the model


@require_http_methods(["GET", "HEAD", "POST"])
def choose_language_model(request: PageRequest) -> HttpResponse:
    """Show the language model and what can be chosen; choose one, or none again."""
    if not request.user.is_staff:
        raise Forbidden(
            "Only administrators may do this: the language model is that of all collections.",
            hint="Ask an administrator of this server.",
        )
    if request.method != "POST":
        template = "_model_offer" if request.htmx else "language_model"
        return fragment(request, f"citations/{template}.html", _context())
    try:
        return _choose(request)
    except KnowledgeBaseError as error:
        messages.error(request, translated_error(error))
        return redirect("language-model")


def offers_model(request: PageRequest) -> bool:
    """Tell whether the user may choose a language model, and there is none."""
    is_free = request.user.is_staff and conf.may_choose_llm()
    return is_free and conf.llm().provider == conf.NO_LLM


def _context() -> dict[str, Any]:
    choice = conf.llm()
    is_free = conf.may_choose_llm()
    running = local_servers.servers(wait=_LOOK_SECONDS) if is_free else ()
    return {
        "choice": choice if choice.provider != conf.NO_LLM else None,
        "is_free": is_free,
        "servers": [server for server in running if server.models != (choice.model,)],
        "services": SERVICES,
        "max_key": MAX_KEY,
    }


def _choose(request: PageRequest) -> HttpResponse:
    if not conf.may_choose_llm():
        raise InvalidInput(
            "The environment names the language model: LLM_PROVIDER.",
            hint="Change it there, or remove it to choose one here.",
        )
    if "stop" in request.POST:
        ChosenModel.forget()
        audit.record(Action.DELETE, "language model")
        message = _("Answers are the sources' own sentences again.")
        return redirect_with_message(request, message, "language-model")
    choice = _choice(request.POST)
    seconds = _check(choice)
    ChosenModel.choose(choice)
    audit.record(Action.CHANGE, "language model", f"{choice.provider}:{choice.model}")
    message = _("%(model)s writes the answers now; it answered in %(seconds)s s.") % {
        "model": choice.model,
        "seconds": f"{seconds:.1f}",
    }
    return redirect_with_message(request, message, "ask")


def _choice(values: QueryDict) -> LlmChoice:
    """Return what was chosen: a server that was seen on this machine, or a service with a key."""
    model, service = clean(values.get("model"), 200), values.get("service", "")
    if service in SERVICES:
        key = clean(values.get("key"), MAX_KEY)
        if not key:
            raise InvalidInput("The key is empty.", hint="Paste the key of the service.")
        model = model or chat_services.usual_model(service)
        return LlmChoice(provider=service, model=model, key=key, is_stored=True)
    for server in local_servers.servers(wait=_LOOK_SECONDS):
        if str(server.port) == values.get("port") and model in server.models:
            return LlmChoice(
                provider=server.provider, model=model, base_url=server.base_url, is_stored=True
            )
    raise InvalidInput(
        "That model server is no longer there.", hint="Start it, and choose it again."
    )


def _check(choice: LlmChoice) -> float:
    """Ask the model a question, and return the seconds that it took. Raises its error."""
    llm = chat_services.make(replace(choice, timeout=_TRY_SECONDS))
    if not isinstance(llm, RemoteLlm):
        raise InvalidInput("There is no such language model.", hint="Choose another.")
    result = trial.try_model(llm)
    if not result.answers:
        raise Unavailable(f"{choice.model} does not answer, so it is not used.", hint=result.advice)
    return result.seconds
