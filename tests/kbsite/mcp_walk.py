"""One call of each MCP tool, with the fewest arguments, for the walks that try every tool as every
kind of caller.

``{video_id}`` and ``{job_id}`` stand for a video and a job of the collection that is tried. A tool
that is registered but missing here fails a test.
"""

from typing import Any

TOOL_CALLS: dict[str, dict[str, Any]] = {
    "fetch_transcript": {"videoId": "{video_id}"},
    "get_transcript": {"videoId": "{video_id}"},
    "get_outline": {"sourceId": "{video_id}"},
    "get_guide": {"sourceId": "{video_id}"},
    "search": {"query": "secret"},
    "fetch": {"id": "{video_id}"},
    "search_transcript": {"videoId": "{video_id}", "query": "lecture"},
    "search_knowledge_base": {"query": "secret", "explain": True},
    "ask_knowledge_base": {"question": "What is said of secrets?"},
    "get_citation": {"citationId": "00000000-0000-0000-0000-000000000000"},
    "verify_quote": {"quote": "These are secret words.", "sourceId": "{video_id}"},
    "list_sources": {},
    "list_transcripts": {},
    "add_source": {"url": "https://www.youtube.com/watch?v=dQw4w9WgXcQ"},
    "get_job": {"jobId": "{job_id}"},
}


def arguments(tool: str, *, video_id: str, job_id: int) -> dict[str, Any]:
    """Return a tool's arguments with the ids put in."""
    given = {"{video_id}": video_id, "{job_id}": job_id}
    return {
        name: given.get(value, value) if isinstance(value, str) else value
        for name, value in TOOL_CALLS[tool].items()
    }
