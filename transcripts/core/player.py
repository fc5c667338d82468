"""What plays a recording in place."""

from enum import StrEnum


class Player(StrEnum):
    """Its own file, before YouTube's player, which asks another host; or nothing."""

    NONE = ""
    FILE = "file"
    YOUTUBE = "youtube"


def player_of(*, has_file: bool, youtube_id: str | None) -> Player:
    if has_file:
        return Player.FILE
    return Player.YOUTUBE if youtube_id else Player.NONE
