"""The ASGI application: Django, and the MCP endpoint beside it."""

from kbsite import boot

boot.boot(migrate=False)

from kbsite.mcp.server import build_application  # noqa: E402  models can be imported only from here on

application = build_application()
