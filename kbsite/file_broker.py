"""The queue of files: kombu's, whose messages appear whole."""

import uuid
from pathlib import Path
from time import monotonic
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    """Reads and writes messages as files."""

    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:  # type: ignore[override]  # as the transport itself names it
        """Write a message under another name first: a worker that takes one of which nothing is written yet ends with an error."""
        whole = Path(
            self.data_folder_out, f"{round(monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        )
        part = whole.with_name(f"{whole.name}.part")
        try:
            part.write_text(dumps(payload), encoding="utf-8")
            part.replace(whole)
        except OSError as error:
            raise ChannelError(f"Cannot add file {str(whole)!r} to directory") from error


class Transport(filesystem.Transport):
    """Makes such channels."""

    Channel = Channel
