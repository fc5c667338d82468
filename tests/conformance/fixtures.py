"""What the public conformance suite wants a server to have, by its names.

Registered on a server of the tests only.
"""

import asyncio
import base64
import json
import struct
import warnings
import zlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)

from transcripts.core.access import AccessLevel, needs

Ctx = Context[Any, Any]
Handler = Callable[..., Awaitable[Any]]
H = TypeVar("H", bound=Handler)


_TOOLS: list[Handler] = []
_PROMPTS: list[Handler] = []
_RESOURCES: list[tuple[str, str, Handler]] = []


def register(server: MCPServer[Any]) -> None:
    """Add all of them."""
    for tool in _TOOLS:
        server.tool()(needs(AccessLevel.READ)(tool))
    for prompt in _PROMPTS:
        server.prompt()(prompt)
    for uri, mime_type, read in _RESOURCES:
        server.resource(uri, mime_type=mime_type, description=read.__doc__)(read)
    for method, params in _ANSWERED_WITH_NOTHING.items():
        server._lowlevel_server.add_request_handler(method, params, _nothing)


def _tool(handler: H) -> H:
    _TOOLS.append(handler)
    return handler


def _prompt(handler: Handler) -> Handler:
    _PROMPTS.append(handler)
    return handler


def _resource(uri: str, mime_type: str) -> Callable[[Handler], Handler]:
    def register_it(handler: Handler) -> Handler:
        _RESOURCES.append((uri, mime_type, handler))
        return handler

    return register_it


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


# One red point, and one silent sample.
_PIXELS = (
    _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    + _chunk(b"IEND", b"")
)
_PNG = b"\x89PNG\r\n\x1a\n" + _PIXELS
_SOUND = (
    b"fmt "
    + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    + b"data"
    + struct.pack("<Ih", 2, 0)
)
_WAV = b"RIFF" + struct.pack("<I", 4 + len(_SOUND)) + b"WAVE" + _SOUND


def _image() -> ImageContent:
    return ImageContent(type="image", data=base64.b64encode(_PNG).decode(), mime_type="image/png")


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _embedded(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(
        type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    )


@_tool
async def test_simple_text() -> CallToolResult:
    """One text."""
    return CallToolResult(content=[_text("This is a simple text response for testing.")])


@_tool
async def test_image_content() -> CallToolResult:
    """One image."""
    return CallToolResult(content=[_image()])


@_tool
async def test_audio_content() -> CallToolResult:
    """One sound."""
    return CallToolResult(
        content=[
            AudioContent(type="audio", data=base64.b64encode(_WAV).decode(), mime_type="audio/wav")
        ]
    )


@_tool
async def test_embedded_resource() -> CallToolResult:
    """One resource."""
    return CallToolResult(
        content=[_embedded("test://embedded-resource", "This is an embedded resource content.")]
    )


@_tool
async def test_multiple_content_types() -> CallToolResult:
    """A text, an image and a resource."""
    data = _embedded(
        "test://mixed-content-resource",
        json.dumps({"test": "data", "value": 123}),
        "application/json",
    )
    return CallToolResult(content=[_text("Multiple content types test:"), _image(), data])


async def _log(ctx: Ctx, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        await ctx.log("info", text)


@_tool
async def test_tool_with_logging(ctx: Ctx) -> CallToolResult:
    """Logs three times."""
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await _log(ctx, text)
        await asyncio.sleep(0.05)
    return CallToolResult(content=[_text("Logged.")])


@_tool
async def test_logging_tool(ctx: Ctx) -> CallToolResult:
    """Logs once."""
    await _log(ctx, "One line")
    return CallToolResult(content=[_text("Logged.")])


@_tool
async def test_tool_with_progress(ctx: Ctx) -> CallToolResult:
    """Reports progress."""
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100)
        await asyncio.sleep(0.05)
    return CallToolResult(content=[_text("Done.")])


@_tool
async def test_error_handling() -> CallToolResult:
    """Always fails."""
    raise ToolError("This tool intentionally returns an error for testing")


@_tool
async def test_missing_capability(ctx: Ctx) -> CallToolResult:
    """Needs sampling."""
    if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This needs sampling.",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return CallToolResult(content=[_text("Sampling is there.")])


async def _nothing(_: Any, __: Any) -> EmptyResult:
    return EmptyResult()


_ANSWERED_WITH_NOTHING: dict[str, type[Any]] = {
    "logging/setLevel": SetLevelRequestParams,
    "resources/subscribe": SubscribeRequestParams,
    "resources/unsubscribe": UnsubscribeRequestParams,
}


_NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
_USER = {
    "type": "object",
    "properties": {"username": {"type": "string"}, "email": {"type": "string"}},
    "required": ["username", "email"],
}
_DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}
_TITLED = [{"const": f"value{number}", "title": f"Choice {number}"} for number in (1, 2, 3)]
_ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": _TITLED},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
        },
        "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
    },
}


# Tools that ask the client something while they run, which needs a session.


async def _elicited(ctx: Ctx, message: str, schema: dict[str, Any]) -> CallToolResult:
    result = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    return CallToolResult(
        content=[
            _text(
                f"Elicitation completed: action={result.action},"
                f" content={json.dumps(result.content)}"
            )
        ]
    )


@_tool
async def test_sampling(prompt: str, ctx: Ctx) -> CallToolResult:
    """Asks the client's model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        result = await ctx.session.create_message(
            [SamplingMessage(role="user", content=_text(prompt))],
            max_tokens=100,
            related_request_id=ctx.request_id,
        )
    return CallToolResult(content=[_text(f"LLM response: {getattr(result.content, 'text', '')}")])


@_tool
async def test_elicitation(message: str, ctx: Ctx) -> CallToolResult:
    """Asks the user."""
    return await _elicited(ctx, message, _USER)


@_tool
async def test_elicitation_sep1034_defaults(ctx: Ctx) -> CallToolResult:
    """Asks the user, with defaults."""
    return await _elicited(ctx, "Please look at the defaults.", _DEFAULTS)


@_tool
async def test_elicitation_sep1330_enums(ctx: Ctx) -> CallToolResult:
    """Asks the user to choose."""
    return await _elicited(ctx, "Please choose.", _ENUMS)


def _ask(message: str, schema: dict[str, Any] = _NAME) -> ElicitRequest:
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str) -> CreateMessageRequest:
    return CreateMessageRequest(
        params=CreateMessageRequestParams(
            messages=[SamplingMessage(role="user", content=_text(text))], max_tokens=100
        )
    )


def _field(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}


def _accepted(ctx: Ctx, key: str, field: str) -> str | None:
    """Return what was answered, None where the answer is missing or not of its kind."""
    given = (ctx.input_responses or {}).get(key)
    value = (
        (given.content or {}).get(field)
        if isinstance(given, ElicitResult) and given.action == "accept"
        else None
    )
    return value if isinstance(value, str) else None


# Tools that ask by ending with a question, to be called again with the answer.
Rounds = CallToolResult | InputRequiredResult


@_tool
async def test_input_required_result_elicitation(ctx: Ctx) -> Rounds:
    """Asks for a name."""
    name = _accepted(ctx, "user_name", "name")
    if name is None:
        return InputRequiredResult(input_requests={"user_name": _ask("What is your name?")})
    return CallToolResult(content=[_text(f"Hello, {name}!")])


@_tool
async def test_streaming_elicitation(ctx: Ctx) -> Rounds:
    """Asks a name in the stream."""
    return await test_input_required_result_elicitation(ctx)


@_tool
async def test_input_required_result_sampling(ctx: Ctx) -> Rounds:
    """Asks the client's model."""
    given = (ctx.input_responses or {}).get("capital_question")
    if given is None:
        return InputRequiredResult(
            input_requests={"capital_question": _sample("What is the capital of France?")}
        )
    return CallToolResult(content=[_text(getattr(getattr(given, "content", None), "text", ""))])


@_tool
async def test_input_required_result_list_roots(ctx: Ctx) -> Rounds:
    """Asks for the roots."""
    given = (ctx.input_responses or {}).get("client_roots")
    if given is None:
        return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})
    return CallToolResult(
        content=[_text(", ".join(str(root.uri) for root in getattr(given, "roots", [])))]
    )


@_tool
async def test_input_required_result_request_state(ctx: Ctx) -> Rounds:
    """Keeps a state between rounds."""
    if ctx.request_state != "waiting" or ctx.input_responses is None:
        return InputRequiredResult(
            input_requests={"confirm": _ask("Please confirm", _OK)}, request_state="waiting"
        )
    return CallToolResult(content=[_text("state-ok")])


@_tool
async def test_input_required_result_tampered_state(ctx: Ctx) -> Rounds:
    """Keeps a state that must not be tampered with."""
    return await test_input_required_result_request_state(ctx)


@_tool
async def test_input_required_result_multiple_inputs(ctx: Ctx) -> Rounds:
    """Asks three things at once."""
    wanted: dict[str, Any] = {
        "user_name": _ask("What is your name?"),
        "greeting": _sample("Generate a greeting"),
        "client_roots": ListRootsRequest(),
    }
    if not wanted.keys() <= (ctx.input_responses or {}).keys():
        return InputRequiredResult(input_requests=wanted, request_state="three")
    return CallToolResult(content=[_text("All three are there.")])


@_tool
async def test_input_required_result_multi_round(ctx: Ctx) -> Rounds:
    """Asks twice."""
    if ctx.request_state is None:
        return InputRequiredResult(
            input_requests={"step1": _ask("Step 1: What is your name?")}, request_state="one"
        )
    if ctx.request_state == "one":
        return InputRequiredResult(
            input_requests={"step2": _ask("Step 2: What is your favorite color?", _field("color"))},
            request_state="two",
        )
    return CallToolResult(content=[_text("Both are there.")])


@_tool
async def test_input_required_result_capabilities(ctx: Ctx) -> Rounds:
    """Asks only what the client can answer."""
    able = ctx.client_capabilities
    wanted: dict[str, Any] = {}
    if able is not None and able.elicitation is not None:
        wanted["user_name"] = _ask("What is your name?")
    if able is not None and able.sampling is not None:
        wanted["greeting"] = _sample("Generate a greeting")
    return (
        InputRequiredResult(input_requests=wanted)
        if wanted
        else CallToolResult(content=[_text("The client can answer nothing.")])
    )


_OK = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


@_resource("test://static-text", "text/plain")
async def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@_resource("test://static-binary", "image/png")
async def static_binary() -> bytes:
    """An image."""
    return _PNG


@_resource("test://watched-resource", "text/plain")
async def watched() -> str:
    """A text to watch."""
    return "Watched."


@_resource("test://template/{id}/data", "application/json")
async def template(id: str) -> str:
    """A template."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@_prompt
async def test_simple_prompt() -> str:
    """A prompt."""
    return "This is a simple prompt for testing."


@_prompt
async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@_prompt
async def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:  # noqa: N803
    """A prompt with a resource."""
    embedded = _embedded(resourceUri, "Embedded resource content for testing.")
    return [UserMessage(embedded), UserMessage("Please process the embedded resource above.")]


@_prompt
async def test_prompt_with_image() -> list[Any]:
    """A prompt with an image."""
    return [UserMessage(_image()), UserMessage("Please analyze the image above.")]


@_prompt
async def test_input_required_result_prompt(ctx: Ctx) -> Any:
    """A prompt that asks first."""
    context = _accepted(ctx, "user_context", "context")
    if context is None:
        return InputRequiredResult(
            input_requests={
                "user_context": _ask("What context should the prompt use?", _field("context"))
            }
        )
    return f"Context: {context}"
