"""A program on fastmcp: it lists the tools, then adds a source, which needs more.

It opens the addresses for its user with the program that BROWSER names.
"""

import asyncio
import sys

from fastmcp import Client
from fastmcp.client.auth import OAuth


async def talk(url: str) -> None:
    async with Client(url, auth=OAuth(client_name="fastmcp", callback_host="127.0.0.1")) as client:
        print("tools:", *(tool.name for tool in await client.list_tools()), flush=True)
        arguments = {"url": "example.org/x"}
        answer = await client.call_tool("add_source", arguments, raise_on_error=False)
        print("added:", answer.content[0].text, flush=True)


asyncio.run(talk(sys.argv[1]))
