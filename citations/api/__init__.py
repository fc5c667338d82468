"""The operations on the whole library under /api/v1/: add, search, index, mark; and on live lectures. Sources and chunks are listed in the content API."""

from citations.api.adding import router as adding
from citations.api.lectures import router as lectures
from citations.api.operations import router

router.add_router("", adding)
router.add_router("", lectures)

__all__ = ["router"]
