"""The operations on sources, searches, lectures, answers, conversations, notes and highlights."""

from ninja import Router

from citations.api import conversations, highlights, lectures, notebook, search, sources

router = Router()
for part in (search, sources, lectures, conversations, highlights, notebook):
    router.add_router("", part.router)
