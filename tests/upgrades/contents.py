"""Use a library through its addresses, and read back what has to stay.

``fill`` runs once for each version, ``read`` with every later one: fields that all versions have.
"""

import json
import sys
from typing import Any

from django.contrib.auth import get_user_model
from django.test import Client

from kbsite import boot

QUESTION = "Why should a rare word count more than a common one?"
ANSWER = "So a rare word should count more than a common word."
SAID = (
    "So a rare word should count more than a common word. How much more? We look at how many texts"
    " contain the word. If there are a thousand texts and the word is in nine hundred of them, its"
    " weight is close to zero. If it is in three of them, its weight is high."
)
AT = ("quote", "title", "start", "end", "page")

Json = dict[str, Any]


def sign_in() -> Client:
    """Open the library, and return a browser in which Ada is signed in."""
    boot.boot()
    client = Client()
    client.force_login(get_user_model().objects.get(username="ada"))
    return client


def send(client: Client, method: str, path: str, body: Json | None = None) -> Any:
    """Call an operation of REST; fail with what it answers if it refuses."""
    given = {} if body is None else {"data": body, "content_type": "application/json"}
    response = getattr(client, method)(f"/api/{path}", **given)
    assert response.status_code < 400, f"{path}: {response.content[:500]!r}"
    return response.json()


def fill(client: Client) -> Json:
    """Ask, keep a note, hold a lecture, mark a hit, add a collection with a member; return ids."""
    answer = send(client, "post", "v1/ask?stream=false", {"question": QUESTION})
    note = {"title": "Rare words", "text": "They **weigh** more.", "collection": "samples"}
    note_id = send(client, "post", "v1/notes", note)["id"]
    lecture = send(client, "post", "v1/sessions", {"title": "Live", "collection": "samples"})["id"]
    window = {"session_id": lecture, "transcript_text": SAID, "window_index": 0}
    send(client, "post", "v1/rag/query", window)
    chunk = hits(client)[0]["chunk"]
    send(client, "put", "v1/marks", {"query": QUESTION, "chunk": chunk, "right": True})
    send(client, "post", "content/collections/", {"name": "Tides", "slug": "tides"})
    get_user_model().objects.create_user("ben")
    member = {"collection": "tides", "user": "ben", "role": "viewer"}
    send(client, "post", "content/memberships/", member)
    return {"answer": answer["id"], "note": note_id, "lecture": lecture}


def read(client: Client, ids: Json) -> Json:
    """Return what the library has: answers, citations, notes, marks, sources, members."""
    answer = send(client, "get", f"v1/answers/{ids['answer']}")
    note = send(client, "get", f"v1/notes/{ids['note']}")
    lecture = send(client, "get", f"v1/sessions/{ids['lecture']}/citations")["citations"]
    members = send(client, "get", "content/memberships/")["memberships"]
    sources = send(client, "get", "content/sources/")["sources"]
    return {
        "claims": [[claim["text"], claim["citations"]] for claim in answer["claims"]],
        "answer_citations": {
            row["id"]: {name: row[name] for name in AT} for row in answer["citations"]
        },
        "lecture_citations": {
            row["id"]: send(client, "get", f"v1/citations/{row['id']}")["full_chunk_text"]
            for row in lecture
        },
        "note": [note["title"], note["text"], note["collection"]],
        "marked": [hit["text"] for hit in hits(client) if hit["mark"]],
        "sources": sorted(row["title"] for row in sources),
        "members": sorted([row["collection"], row["user"], row["role"]] for row in members),
    }


def use(client: Client, kept: Json) -> Json:
    """Open the pages, ask again, search with the token; return what came of it."""
    answer, citations = kept["ids"]["answer"], kept["contents"]["answer_citations"]
    paths = [
        "/ask/",
        f"/ask/answers/{answer}/",
        f"/notes/{kept['ids']['note']}/",
        f"/lectures/{kept['ids']['lecture']}/",
        f"/search/?q={QUESTION}",
        *(f"/ask/citations/{citation}/" for citation in citations),
        *(f"/citations/{citation}/" for citation in citations),
        *(f"/citations/{citation}/" for citation in kept["contents"]["lecture_citations"]),
    ]
    pages = {path: client.get(path, follow=True).status_code for path in paths}
    reply = send(client, "post", "v1/ask?stream=false", {"question": QUESTION})
    bearer = {"Authorization": f"Bearer {kept['token']['token']}"}
    quotes = [citation["quote"] for citation in citations.values()]
    new_quotes = [citation["quote"] for citation in reply["citations"]]
    return {
        "failed": {path: status for path, status in pages.items() if status != 200},
        "answered": any(ANSWER in quote for quote in new_quotes),
        "verdicts": {
            send(client, "post", "v1/verify", {"quote": quote})["verdict"]: True
            for quote in [*quotes, *new_quotes, *kept["contents"]["lecture_citations"].values()]
        },
        "token": Client().get("/api/v1/search?q=tides", headers=bearer).status_code,
    }


def hits(client: Client) -> list[Json]:
    """Search by words, whose ranks do not depend on a model."""
    body = send(client, "get", f"v1/search?q={QUESTION}&mode=words")
    return next(value for value in body.values() if isinstance(value, list) and value)


if __name__ == "__main__":
    browser = sign_in()
    kept = {"token": json.load(sys.stdin), "ids": fill(browser)}
    print(json.dumps(kept | {"contents": read(browser, kept["ids"])}, indent=1))
