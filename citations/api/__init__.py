"""The operations on sources, searches, lectures, answers, conversations, notes and highlights."""

from ninja import Router

from citations.api.archives import router as archives
from citations.api.conversations import router as conversations
from citations.api.highlights import router as highlights
from citations.api.lectures import router as lectures
from citations.api.notes import router as notes
from citations.api.search import router as search
from citations.api.shared_links import router as shared_links
from citations.api.sources import router as sources

router = Router()
router.add_router("", search)
router.add_router("", sources)
router.add_router("", lectures)
router.add_router("", conversations)
router.add_router("", notes)
router.add_router("", highlights)
router.add_router("", shared_links)
router.add_router("", archives)

__all__ = ["router"]
