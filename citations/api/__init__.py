"""The operations on sources, searches, lectures, answers, conversations and notes."""

from citations.api.conversations import router as conversations
from citations.api.lectures import router as lectures
from citations.api.notes import router as notes
from citations.api.search import router
from citations.api.sources import router as sources

router.add_router("", sources)
router.add_router("", lectures)
router.add_router("", conversations)
router.add_router("", notes)

__all__ = ["router"]
