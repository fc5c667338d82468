"""The operations on the whole library under /api/v1/: add, search, index, mark, ask; and on lectures, conversations and notes. More is in the content API."""

from citations.api.adding import router as adding
from citations.api.conversations import router as conversations
from citations.api.lectures import router as lectures
from citations.api.notes import router as notes
from citations.api.operations import router
from citations.api.verifying import router as verifying

router.add_router("", adding)
router.add_router("", lectures)
router.add_router("", conversations)
router.add_router("", notes)
router.add_router("", verifying)

__all__ = ["router"]
