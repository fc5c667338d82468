"""The ASGI application: Django, and the MCP endpoint beside it."""

import threading
import warnings

from kbsite import boot

boot.boot(migrate=False)

from citations.providers import registry  # noqa: E402  models can be imported only from here on
from kbsite.mcp.server import build_application  # noqa: E402

# Django warns that a static file is read by a synchronous iterator; ours are a few kilobytes.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

application = build_application()
threading.Thread(target=registry.warm, name="warm").start()  # the first search finds the model loaded
