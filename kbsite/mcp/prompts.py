"""Prompts: tasks that tell a model which tools to use and how to cite."""
# ruff: noqa: N803  the arguments have the plugin's names

from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic import Field

from kbsite.callers import SignedInCaller
from kbsite.mcp.calls import caller, in_thread
from kbsite.mcp.errors import explained
from transcripts.core.errors import KnowledgeBaseError
from transcripts.library import reading as library

VideoId = Annotated[
    str, Field(description="Id of the recording, or any YouTube address of it.", max_length=2048)
]
_CITING = (
    "Cite as [12:34](link): the time and the timestamp_link that the tool gave. Say so if the "
    "transcript does not answer."
)


def register(mcp: MCPServer[Any]) -> None:
    """Add the prompts."""

    @mcp.prompt(
        title="Summarise a recording", description="An outline of what is said, with times."
    )
    async def summarise_video(videoId: VideoId) -> str:
        name = await in_thread(_name, caller(), videoId)
        return (
            f"Summarise the video with {name}. Read it with get_transcript and videoId alone; if "
            "that gives only a preview, take get_outline, and read with startTime and endTime what "
            "it leaves open. Write three "
            "sentences on its subject, then an outline of its parts with the time each starts, "
            f"then the main claims. Use only what is said in it. {_CITING}"
        )

    @mcp.prompt(
        title="Find and cite",
        description="Answer a question from the library, every claim with the second it is said.",
    )
    async def find_and_cite(
        question: Annotated[str, Field(description="What you want to know.", max_length=1000)],
        videoId: Annotated[str, Field(description="Only in this recording.", max_length=2048)] = "",
    ) -> str:
        where = (
            f"the video with {await in_thread(_name, caller(), videoId)}"
            if videoId
            else "the library"
        )
        tool = "search_transcript" if videoId else "search_knowledge_base"
        return (
            f"Answer from {where}: {question}\n\nSearch with {tool} in several wordings, read "
            "around the hits with get_transcript and startTime and endTime, and quote word for "
            f"word what supports each claim. {_CITING}"
        )

    @mcp.prompt(
        title="Study questions",
        description="Questions that test whether one has understood a recording, with answers.",
    )
    async def study_questions(
        videoId: VideoId,
        count: Annotated[
            str, Field(description="How many questions. Default 8.", max_length=3)
        ] = "8",
    ) -> str:
        name = await in_thread(_name, caller(), videoId)
        return (
            f"Write {count if count.isdecimal() else 8} study questions on the video with {name}, "
            "from easy to hard, after reading all of it with get_transcript (by chunkIndex if it "
            f"is long). Below each give a short answer and its time in the video. {_CITING}"
        )


def _name(by: SignedInCaller, reference: str) -> str:
    try:
        video = library.find_video(by.scope, reference.replace("\0", ""))
    except KnowledgeBaseError as error:
        raise MCPError(code=INVALID_PARAMS, message=explained(error)) from error
    return f"videoId={video.key}"  # not its title, which may give orders
