"""Kombu's file queue, with messages that appear in one step."""

import uuid
from pathlib import Path
from time import monotonic
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        # A worker that takes an empty message fails, so it is written under another name first.
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        message = Path(self.data_folder_out, name)
        part = message.with_name(f"{name}.part")
        try:
            part.write_text(dumps(payload), encoding="utf-8")
            part.replace(message)
        except OSError as error:
            raise ChannelError(f"Cannot add file {str(message)!r} to directory") from error


class Transport(filesystem.Transport):
    Channel = Channel
