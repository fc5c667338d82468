"""The operation that checks quotes."""

from typing import Annotated

from ninja import Field, Router, Schema
from pydantic import ConfigDict, StringConstraints

from citations.api.search_in import Collections
from citations.library.filters import Filter
from citations.quotes import verification
from citations.quotes.verification import MAX_QUOTE, VerifiedQuote
from citations.schemas.answers import QuoteCheckOut
from transcripts.api.endpoints import Request
from transcripts.api.in_ import Text
from transcripts.api.out import responses

router = Router()


class VerifyIn(Schema):
    """A quote, the source it is attributed to, and where else to look."""

    model_config = ConfigDict(extra="forbid")

    quote: Annotated[Text, StringConstraints(min_length=1, max_length=MAX_QUOTE)]
    source: Annotated[Text, StringConstraints(max_length=500)] = Field(
        "", description="Id of the source or video that the quote is attributed to."
    )
    collection: Collections = []


@router.post("verify", response=responses({200: QuoteCheckOut}, 404), summary="Check a quote")
def verify_quote(request: Request, sent: VerifyIn) -> VerifiedQuote:
    """Say whether a quote is in a source word for word, and at which second or page."""
    filter = Filter(collections=tuple(sent.collection))
    return verification.verify(request.access, sent.quote, source=sent.source, filter=filter)
