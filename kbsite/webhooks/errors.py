"""What can go wrong with a webhook."""

from transcripts.core.errors import Conflict, Retry, Unavailable


class ReceiverFailed(Unavailable):
    """The receiver of a webhook did not accept a message."""

    code = "receiver_failed"
    default_hint = "Its address has to answer 2xx within ten seconds, without a redirect."
    retry = Retry.RECEIVER

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class WebhookOff(Conflict):
    """The webhook is turned off, so nothing is sent to it."""

    code = "webhook_off"
    default_message = "This webhook is turned off."
    default_hint = "Turn it on first."
