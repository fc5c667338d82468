"""YouTube, asked through both real libraries, which run against the stand-in."""

import itertools
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from requests.adapters import BaseAdapter

from tests import youtube_standin as standin
from tests.programs import run_program
from tests.youtube_standin import Track, YouTubeStandIn
from transcripts.core import errors
from transcripts.core.errors import InvalidUrl, Retry, YouTubeError
from transcripts.text.timecodes import Target, parse_target
from transcripts.youtube import FetchedTranscript, Listing, Options, YouTube, guard, info_from_json
from transcripts.youtube.failures import explain
from transcripts.youtube.guard import LOOPBACK_VARIABLE, Guard, Loopback, session
from transcripts.youtube.values import (
    Chapter,
    Playability,
    RequestTrace,
    Unplayable,
    read_playability,
)

pytestmark = pytest.mark.youtube

TABBED = "UCtabbed-channel-0000001"
SECRET = "hunter2-in-the-proxy"
_NUMBERS = itertools.count()
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=15,
)


@pytest.fixture(scope="module")
def server() -> Iterator[YouTubeStandIn]:
    with YouTubeStandIn() as running:
        yield running


@pytest.fixture
def fresh(server: YouTubeStandIn) -> Iterator[YouTubeStandIn]:
    """The stand-in with an empty log."""
    server.requests.clear()
    yield server
    server.blocked = False


def new_id() -> str:
    return f"video-{next(_NUMBERS):05}"


def ask(
    server: YouTubeStandIn, video_id: str, language: str | None = None, **options: Any
) -> FetchedTranscript:
    return YouTube(
        Options(**{"timeout": 5, "max_bytes": 2_000_000, **options}), adapter=server.adapter()
    ).fetch(video_id, language=language)


def lists(server: YouTubeStandIn, target: Target | str, **options: Any) -> Listing:
    target = parse_target(target) if isinstance(target, str) else target
    return YouTube(Options(), adapter=server.adapter()).list_videos(target, **options)


def refused(
    server: YouTubeStandIn,
    language: str | None = None,
    options: dict[str, Any] | None = None,
    **video: Any,
) -> YouTubeError:
    """Ask for a video that misbehaves so, and give the error."""
    video_id = new_id()
    server.add_video(video_id, **video)
    with pytest.raises(YouTubeError) as caught:
        ask(server, video_id, language, **(options or {}))
    return caught.value


def spoken(fetched: FetchedTranscript) -> str:
    return " ".join(cue.text for cue in fetched.cues)


def second_opinions(server: YouTubeStandIn) -> list[standin.YouTubeRequest]:
    return [request for request in server.requests if request.agent.startswith("python-requests")]


# What a video gives


def test_a_video_comes_with_its_metadata(fresh: YouTubeStandIn) -> None:
    info = ask(fresh, standin.MANUAL).info
    assert (info.title, info.channel, info.channel_id) == (
        "Baking bread at home",
        "Stand-in Channel",
        standin.CHANNEL,
    )
    assert (info.duration, info.published_at) == (120_000, datetime(2024, 3, 1, 18, tzinfo=UTC))
    assert info.chapters == (Chapter(0, "Start"), Chapter(30_000, "Dough"), Chapter(60_000, "Oven"))
    assert info.languages == ("en", "de")
    assert info.description == "Flour, water, salt."


def test_three_requests_are_enough(fresh: YouTubeStandIn) -> None:
    ask(fresh, standin.MANUAL)
    assert [request.path for request in fresh.requests] == [
        "/watch",
        "/youtubei/v1/player",
        "/api/timedtext",
    ]


def test_captions_by_hand_come_before_recognised_ones(fresh: YouTubeStandIn) -> None:
    fetched = ask(fresh, standin.MANUAL)
    assert (fetched.language, fetched.origin, fetched.partial) == ("en", "manual", False)
    assert spoken(fetched) == "Hello and welcome. This is the stand-in."
    assert [(cue.start, cue.end) for cue in fetched.cues] == [(0, 2000), (2000, 5000)]


def test_the_file_is_given_as_it_came(fresh: YouTubeStandIn) -> None:
    fetched = ask(fresh, standin.MANUAL)
    assert fetched.raw_name == f"{standin.MANUAL}.en.json3"
    assert json.loads(fetched.raw)["events"][0]["segs"] == [{"utf8": "Hello and welcome."}]


def test_recognised_captions_are_not_doubled_and_keep_word_times(fresh: YouTubeStandIn) -> None:
    fetched = ask(fresh, standin.AUTO)
    assert (fetched.language, fetched.origin) == ("en", "auto")
    assert spoken(fetched) == "do you hear me yes yes then we can begin with the first part"
    assert [(word.start, word.text) for word in fetched.cues[0].words] == [
        (0, "do"),
        (500, "you"),
        (1000, "hear"),
        (1500, "me"),
    ]


def test_a_preferred_language_matches_its_regions(fresh: YouTubeStandIn) -> None:
    assert ask(fresh, standin.BRITISH).language == "en-GB"
    assert ask(fresh, standin.BRITISH, languages=("fr", "nl")).language == "nl"


def test_the_original_is_taken_rather_than_a_machine_translation(fresh: YouTubeStandIn) -> None:
    fetched = ask(fresh, standin.RUSSIAN)
    assert (fetched.language, fetched.origin) == ("ru", "auto")
    assert fetched.info.languages == ("ru",)


def test_a_translation_is_given_only_where_allowed_and_asked_for(fresh: YouTubeStandIn) -> None:
    fetched = ask(fresh, standin.RUSSIAN, "de", allow_translated=True)
    assert (fetched.language, fetched.origin) == ("de", "translated")
    assert ask(fresh, standin.RUSSIAN, allow_translated=True).origin == "auto"


def test_a_language_may_be_asked_for(fresh: YouTubeStandIn) -> None:
    assert spoken(ask(fresh, standin.MANUAL, "de")) == "Hallo und willkommen. Das ist der Ersatz."


def test_a_missing_language_comes_with_those_that_exist(fresh: YouTubeStandIn) -> None:
    with pytest.raises(errors.LanguageMissing) as caught:
        ask(fresh, standin.BRITISH, "fr")
    assert caught.value.available == ("en-GB", "nl")
    assert "en-GB, nl" in caught.value.hint
    assert "“fr”" in caught.value.message


@pytest.mark.parametrize("language", [None, "en", "en-US", "en.manual"])
def test_of_two_tracks_in_a_language_the_unnamed_is_taken(
    fresh: YouTubeStandIn, language: str | None
) -> None:
    reverse = fresh.add_video(new_id(), tracks=tuple(reversed(fresh.videos[standin.NAMED].tracks)))
    for video_id in (standin.NAMED, reverse.id):
        fetched = ask(fresh, video_id, language)
        assert spoken(fetched) == "Hello and welcome. This is the stand-in."


def test_another_track_of_a_language_is_asked_for_by_origin_or_name(fresh: YouTubeStandIn) -> None:
    assert ask(fresh, standin.MANUAL, "en.auto").origin == "auto"
    assert spoken(ask(fresh, standin.NAMED, "en.commentary")) == "A commentary."
    with pytest.raises(errors.LanguageMissing) as caught:
        ask(fresh, standin.NAMED, "en.auto")
    assert caught.value.available == ("en", "en.Commentary")


@pytest.mark.parametrize(
    ("wanted", "offered"), [("he", "iw"), ("pt-PT", "pt-BR"), ("zh-TW", "zh-Hant"), ("nb", "no")]
)
def test_a_language_is_found_by_another_tag(
    fresh: YouTubeStandIn, wanted: str, offered: str
) -> None:
    video = fresh.add_video(new_id(), tracks=(Track("fr"), Track(offered)))
    assert ask(fresh, video.id, wanted).language == offered
    assert ask(fresh, video.id, languages=(wanted,)).language == offered


def test_angle_brackets_in_a_talk_about_code_survive(fresh: YouTubeStandIn) -> None:
    assert spoken(ask(fresh, standin.CODE)) == "if 3 < 4 && 4 > 2 vector<int> & more"


def test_a_live_video_is_partial_and_its_chat_is_not_a_transcript(fresh: YouTubeStandIn) -> None:
    fetched = ask(fresh, standin.LIVE)
    assert fetched.partial
    assert fetched.info.title == "Live from the bakery"
    assert fetched.info.languages == ("en",)


def test_a_chapter_without_a_title_is_left_out(fresh: YouTubeStandIn) -> None:
    video = fresh.add_video(new_id(), chapters=((0, "Start"), (10_000, ""), (20_000, "End")))
    assert [chapter.title for chapter in ask(fresh, video.id).info.chapters] == ["Start", "End"]


def test_text_that_a_database_refuses_is_cleaned(fresh: YouTubeStandIn) -> None:
    video = fresh.add_video(new_id(), title="a\x00b\ud83dc", description="line\nnext\x07")
    info = ask(fresh, video.id).info
    assert (info.title, info.description) == ("abc", "line\nnext")


def test_a_picture_is_a_jpeg(fresh: YouTubeStandIn) -> None:
    youtube = YouTube(Options(), adapter=fresh.adapter())
    assert youtube.thumbnail(standin.MANUAL).startswith(b"\xff\xd8\xff")
    assert fresh.requests[-1].host == "i.ytimg.com"
    with pytest.raises(errors.VideoRemoved):
        youtube.thumbnail("nothing-000")


@pytest.mark.parametrize(
    "written", ["", "short", "https://youtu.be/dQw4w9WgXcQ", "../../../xx", "dQw4w9WgXcQ&x"]
)
def test_what_is_no_id_is_never_asked_for(fresh: YouTubeStandIn, written: str) -> None:
    with pytest.raises(InvalidUrl):
        ask(fresh, written)
    with pytest.raises(InvalidUrl):
        YouTube(Options(), adapter=fresh.adapter()).thumbnail(written)
    assert fresh.requests == []


# Conditions: what the video is like, the error, a part of its message


def unplayed(status: str, reason: str, subreason: str = "") -> dict[str, Any]:
    """Say how a video is answered whose players do not play it."""
    return {"status": status, "reason": reason, "subreason": subreason, "tracks": ()}


CONDITIONS: dict[str, tuple[dict[str, Any], type[YouTubeError], str]] = {
    "bot check": (
        unplayed("LOGIN_REQUIRED", "Sign in to confirm you’re not a bot"),
        errors.Blocked,
        "bot",
    ),
    "captcha page": ({"behaviour": "captcha_page"}, errors.Blocked, "captcha"),
    "captcha elsewhere": ({"behaviour": "captcha_redirect"}, errors.Blocked, "captcha"),
    "429 on watch": ({"behaviour": "watch_429"}, errors.Blocked, "429"),
    "captions 429": ({"behaviour": "captions_429"}, errors.RateLimited, "429"),
    "player 403": ({"behaviour": "player_403", "tracks": ()}, errors.Refused, "403"),
    "try again later": (
        unplayed(
            "UNPLAYABLE", "Video unavailable", "This content isn’t available, try again later."
        ),
        errors.RateLimited,
        "later",
    ),
    "wrong video": ({"behaviour": "wrong_video"}, errors.Blocked, "another video"),
    "PO token": ({"behaviour": "po_token"}, errors.PoTokenRequired, "own player"),
    "empty captions": ({"behaviour": "captions_empty"}, errors.PoTokenRequired, "own player"),
    "no captions": ({"tracks": ()}, errors.NoCaptions, "no captions"),
    "captions without words": ({"behaviour": "captions_wordless"}, errors.NoCaptions, "no words"),
    "age gate": (
        unplayed(
            "LOGIN_REQUIRED",
            "Sign in to confirm your age",
            "This video may be inappropriate for some users.",
        ),
        errors.AgeRestricted,
        "signed-in",
    ),
    "private": (
        unplayed(
            "LOGIN_REQUIRED", "Private video", "Sign in if you've been granted access to this video"
        ),
        errors.PrivateVideo,
        "private",
    ),
    "members": (
        unplayed(
            "UNPLAYABLE", "Join this channel to get access to members-only content like this video."
        ),
        errors.MembersOnly,
        "members",
    ),
    "paid": (
        unplayed("UNPLAYABLE", "This video requires payment to watch."),
        errors.MembersOnly,
        "bought",
    ),
    "country": (
        unplayed(
            "UNPLAYABLE",
            "Video unavailable",
            "The uploader has not made this video available in your country",
        ),
        errors.GeoBlocked,
        "country",
    ),
    "removed": (
        unplayed("ERROR", "Video unavailable", "This video has been removed by the uploader"),
        errors.VideoRemoved,
        "removed by the uploader",
    ),
    "closed account": (
        unplayed(
            "ERROR",
            "This video is no longer available because the YouTube account associated with this"
            " video has been terminated.",
        ),
        errors.VideoRemoved,
        "terminated",
    ),
    "premiere": (
        {
            "status": "LIVE_STREAM_OFFLINE",
            "reason": "Premieres in 2 hours",
            "live": "upcoming",
            "starts": "2031-05-06T07:08:00+00:00",
            "tracks": (),
        },
        errors.Premiere,
        "2031-05-06 07:08 UTC",
    ),
    "still processed": (
        unplayed("UNPLAYABLE", "We're processing this video. Check back later."),
        Unplayable,
        "“We're processing this video. Check back later”",
    ),
    "one video's error": (
        unplayed("ERROR", "An error occurred. Please try again later."),
        Unplayable,
        "“An error occurred. Please try again later”",
    ),
    "not on this app": (
        unplayed(
            "UNPLAYABLE", "Video unavailable", "The following content is not available on this app."
        ),
        Unplayable,
        "not available on this app",
    ),
    "sign-in": (unplayed("LOGIN_REQUIRED", "Melde dich an"), Unplayable, "signed in"),
    "no reason": (unplayed("CONTENT_CHECK_REQUIRED", ""), Unplayable, "“CONTENT_CHECK_REQUIRED”"),
    "music subscription": (
        unplayed("UNPLAYABLE", "Nur für Music Premium-Mitglieder"),
        errors.MembersOnly,
        "subscribers",
    ),
    "copy protection": (
        {"answer": {"streamingData": {"licenseInfos": [{"drmFamily": "WIDEVINE"}]}}, "tracks": ()},
        Unplayable,
        "copy protection",
    ),
    "age in German": (
        unplayed("AGE_CHECK_REQUIRED", "Bitte bestätige dein Alter"),
        errors.AgeRestricted,
        "signed-in",
    ),
    "age by a field": (
        {
            "status": "UNPLAYABLE",
            "reason": "Altersbeschränkung",
            "answer": {"playabilityStatus": {"desktopLegacyAgeGateReason": 1}},
            "tracks": (),
        },
        errors.AgeRestricted,
        "signed-in",
    ),
    "members in German": (
        {
            "status": "UNPLAYABLE",
            "reason": "Nur für Kanalmitglieder",
            "answer": {
                "playabilityStatus": {
                    "errorScreen": {
                        "playerLegacyDesktopYpcOfferRenderer": {"offerId": "sponsors_only_video"}
                    }
                }
            },
            "tracks": (),
        },
        errors.MembersOnly,
        "members of the channel",
    ),
    "paid in German": (
        {
            "status": "UNPLAYABLE",
            "reason": "Dieses Video ist kostenpflichtig",
            "answer": {
                "playabilityStatus": {
                    "errorScreen": {"playerLegacyDesktopYpcOfferRenderer": {"itemTitle": "Film"}}
                }
            },
            "tracks": (),
        },
        errors.MembersOnly,
        "bought",
    ),
    "private in German": (
        {
            "status": "LOGIN_REQUIRED",
            "reason": "Privates Video",
            "answer": {"videoDetails": {"isPrivate": True}},
            "tracks": (),
        },
        errors.PrivateVideo,
        "private",
    ),
    "country in German": (
        unplayed(
            "UNPLAYABLE",
            "Video nicht verfügbar",
            "Dieses Video ist in deinem Land nicht verfügbar.",
        ),
        Unplayable,
        "“Video nicht verfügbar. Dieses Video ist in deinem Land nicht verfügbar”",
    ),
    "bot check in German": (
        unplayed("LOGIN_REQUIRED", "Melde dich an, um zu bestätigen, dass du kein Bot bist"),
        errors.Blocked,
        "bot",
    ),
    "live not begun": (
        unplayed("LIVE_STREAM_OFFLINE", "Das Live-Event beginnt in Kürze."),
        errors.Premiere,
        "not published yet",
    ),
    "no answer": ({"behaviour": "hang"}, errors.NetworkProblem, "could not be reached"),
    "reset": ({"behaviour": "reset"}, errors.NetworkProblem, "could not be reached"),
    "5xx": ({"behaviour": "player_500"}, errors.NetworkProblem, "server error"),
    "too slow": ({"behaviour": "drip"}, errors.NetworkProblem, "broke off"),
    "garbage JSON": ({"behaviour": "garbage_json", "tracks": ()}, errors.YouTubeChanged, "changed"),
    "garbage HTML": ({"behaviour": "garbage_html"}, errors.YouTubeChanged, "changed"),
    "a page for captions": ({"behaviour": "captions_html"}, errors.YouTubeChanged, "web page"),
    "half captions": ({"behaviour": "captions_garbage"}, errors.YouTubeChanged, "cannot be read"),
    "bad host": (
        {"tracks": (Track("en", address="https://evil.example/api/timedtext?lang=en"),)},
        errors.HostRefused,
        "evil.example",
    ),
    "private host": ({"behaviour": "redirect_private"}, errors.HostRefused, "169.254.169.254"),
    "gzip bomb": ({"behaviour": "bomb"}, errors.ResponseTooLarge, "larger than 2 MB"),
    "endless": ({"behaviour": "endless"}, errors.ResponseTooLarge, "larger than 2 MB"),
}
AGAIN: dict[type[YouTubeError], Retry] = {
    errors.Blocked: Retry.COOL_DOWN,
    errors.RateLimited: Retry.COOL_DOWN,
    errors.Refused: Retry.COOL_DOWN,
    errors.Premiere: Retry.AT_TIME,
    Unplayable: Retry.LATER,
    errors.NetworkProblem: Retry.NETWORK,
    errors.YouTubeChanged: Retry.ONCE,
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_every_condition_is_told_apart(fresh: YouTubeStandIn, name: str) -> None:
    video, kind, said = CONDITIONS[name]
    quick = {"timeout": 0.2} if video.get("behaviour") in {"hang", "drip"} else {}
    error = refused(fresh, options=quick, **video)
    assert type(error) is kind
    assert said in error.message
    assert error.retry is AGAIN.get(kind, Retry.NEVER)
    assert error.hint
    assert "--cookies" not in error.message
    assert len(error.message) < 400


@pytest.mark.parametrize(
    "name", [name for name, (_, kind, _) in CONDITIONS.items() if issubclass(kind, errors.Blocked)]
)
def test_nothing_more_is_asked_after_a_refusal(fresh: YouTubeStandIn, name: str) -> None:
    refused(fresh, **CONDITIONS[name][0])
    assert second_opinions(fresh) == []
    assert len(fresh.requests) <= 3


def test_after_a_429_not_even_the_same_library_asks_again(fresh: YouTubeStandIn) -> None:
    refused(fresh, behaviour="watch_429")
    assert [request.path for request in fresh.requests] == ["/watch"]


def test_a_premiere_says_when_to_come_back(fresh: YouTubeStandIn) -> None:
    error = refused(fresh, **CONDITIONS["premiere"][0])
    assert isinstance(error, errors.Premiere)
    assert error.retry_at == int(datetime(2031, 5, 6, 7, 8, tzinfo=UTC).timestamp())


def test_a_video_that_youtube_does_not_know_was_removed(fresh: YouTubeStandIn) -> None:
    with pytest.raises(errors.VideoRemoved):
        ask(fresh, "nothing-000")


def test_a_video_that_one_player_plays_is_judged_by_that_player_alone() -> None:
    trace = RequestTrace(
        players=[
            Playability("LOGIN_REQUIRED", frozenset({"isPrivate", "LOGIN_REQUIRED"}), "Private"),
            Playability("OK", frozenset({"OK"}), ""),
        ]
    )
    assert explain(trace, []) is None
    assert trace.is_playable


def test_captions_are_called_missing_only_of_a_video_that_plays(
    fresh: YouTubeStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "read_playability", lambda _: None)
    assert type(refused(fresh, tracks=())) is errors.YouTubeChanged


@given(JSON)
def test_any_answer_of_the_player_is_read_or_left(answer: object) -> None:
    for part in (answer, {"playabilityStatus": answer}):
        read_playability(json.dumps({"videoDetails": answer, **_fields(part)}).encode())


def _fields(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"playabilityStatus": value}


def test_a_deeply_nested_answer_of_the_player_is_left() -> None:
    assert read_playability(b'{"playabilityStatus":' * 100_000) is None


@pytest.mark.parametrize(
    "name", ["no captions", "PO token", "age gate", "sign-in", "reset", "garbage HTML"]
)
def test_a_second_opinion_is_asked_where_it_does_no_harm(fresh: YouTubeStandIn, name: str) -> None:
    refused(fresh, **CONDITIONS[name][0])
    assert second_opinions(fresh)


def test_the_second_opinion_helps_where_the_first_library_is_out_of_date(
    fresh: YouTubeStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transcripts.youtube import extractor  # noqa: PLC0415 - half a second

    monkeypatch.setattr(extractor.GuardedClient, "extract_info", _stumble)
    fetched = ask(fresh, standin.CODE)
    assert spoken(fetched) == "if 3 < 4 && 4 > 2 vector<int> & more"
    assert (fetched.language, fetched.origin) == ("en", "manual")
    assert (fetched.info.title, fetched.info.channel) == ("Code", "Stand-in Channel")


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in CONDITIONS
        if name not in {"premiere", "redirect", "paid", "try again later"}
    ],
)
def test_the_second_library_s_errors_are_understood_too(
    fresh: YouTubeStandIn, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from transcripts.youtube import extractor  # noqa: PLC0415 - half a second

    monkeypatch.setattr(extractor.GuardedClient, "extract_info", _stumble)
    video, kind, _ = CONDITIONS[name]
    quick = {"timeout": 0.2} if video.get("behaviour") in {"hang", "drip"} else {}
    assert type(refused(fresh, options=quick, **video)) is kind


def _stumble(*_: object, **__: object) -> None:
    raise KeyError("something that is no longer there")


# The guard


@pytest.mark.parametrize(
    "address",
    [
        "http://www.youtube.com/watch",
        "https://www.youtube.com.evil/watch",
        "https://evilyoutube.com/",
        "https://a.b.youtube.com/",
        "https://www.youtube.com:8443/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://169.254.169.254/latest",
        "https://localhost/",
        "https://googlevideo.com/",
        "https://accounts.google.com/",
    ],
)
def test_the_guard_lets_nothing_past_but_youtube(fresh: YouTubeStandIn, address: str) -> None:
    trace = RequestTrace()
    with (
        session(Options(), trace, fresh.adapter()) as http,
        pytest.raises(requests.ConnectionError),
    ):
        http.get(address)
    assert isinstance(trace.refusal, errors.HostRefused)
    assert fresh.requests == []


@pytest.mark.parametrize(
    "scheme", ["file:///etc/passwd", "ftp://www.youtube.com/x", "data:text/plain,x"]
)
def test_the_guard_speaks_http_only(fresh: YouTubeStandIn, scheme: str) -> None:
    with (
        session(Options(), RequestTrace(), fresh.adapter()) as http,
        pytest.raises(requests.exceptions.InvalidSchema),
    ):
        http.get(scheme)


def test_a_redirect_loop_ends(fresh: YouTubeStandIn) -> None:
    assert isinstance(refused(fresh, behaviour="redirect_loop"), YouTubeError)
    assert len(fresh.requests) < 100


@pytest.mark.parametrize(
    "url",
    [
        "http://192.168.0.1:80",
        "http://example.org",
        "https://127.0.0.1:1",
        "http://localhost:1",
        "http://a@127.0.0.1:1",
        "nonsense",
    ],
)
def test_only_a_stand_in_on_this_machine_may_take_youtubes_place(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv(LOOPBACK_VARIABLE, url)
    with pytest.raises(errors.HostRefused) as caught:
        YouTube(Options()).fetch(standin.MANUAL)
    assert LOOPBACK_VARIABLE in caught.value.message


def test_the_environment_turns_every_request_to_the_stand_in(
    fresh: YouTubeStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in fresh.environment().items():
        monkeypatch.setenv(name, value)
    assert YouTube(Options()).fetch(standin.MANUAL).language == "en"
    assert {request.host for request in fresh.requests} == {"www.youtube.com"}


_WATCHED = """
import json, sys
met = set()
def watch(event, arguments):
    if event == "socket.connect":
        met.add(str(arguments[1][0]))
    if event == "socket.getaddrinfo":
        met.add(str(arguments[0]))
sys.addaudithook(watch)
from transcripts.text.timecodes import Target
from transcripts.youtube import Options, YouTube
youtube = YouTube(Options())
fetched = youtube.fetch(sys.argv[1])
listing = youtube.list_videos(Target("playlist", sys.argv[2]))
try:
    youtube.fetch(sys.argv[3])
except Exception as error:
    code = error.code
print(json.dumps([fetched.info.title, len(listing.video_ids), code, sorted(met)]))
"""


def test_a_whole_process_asks_nobody_but_the_stand_in(fresh: YouTubeStandIn) -> None:
    silent = fresh.add_video(new_id(), tracks=())
    command = [sys.executable, "-c", _WATCHED, standin.MANUAL, standin.PLAYLIST, silent.id]
    process = run_program(*command, environment={**os.environ, **fresh.environment()})
    assert json.loads(process.stdout) == ["Baking bread at home", 3, "no_captions", ["127.0.0.1"]]
    assert second_opinions(fresh)


# The proxy


class Recorder(BaseAdapter):
    """Sends to the stand-in and notes the proxies that it was given."""

    def __init__(self, inner: Loopback) -> None:
        super().__init__()
        self.inner = inner
        self.proxies: list[dict[str, str]] = []

    def send(
        self, request: requests.PreparedRequest, *_: Any, **settings: Any
    ) -> requests.Response:
        self.proxies.append(dict(settings["proxies"]))
        return self.inner.send(request, **settings)

    def close(self) -> None:
        self.inner.close()


def test_both_libraries_use_the_proxy(fresh: YouTubeStandIn) -> None:
    proxy = "http://user:pass@proxy.example:3128"
    recorder = Recorder(fresh.adapter())
    with pytest.raises(errors.NoCaptions):
        YouTube(Options(proxy_url=proxy), adapter=recorder).fetch(
            fresh.add_video(new_id(), tracks=()).id
        )
    assert second_opinions(fresh)
    assert all(proxy in used.values() for used in recorder.proxies)


@pytest.mark.parametrize(
    "proxy",
    [
        f"http://user:{SECRET}@127.0.0.1:9",
        f"socks5://user:{SECRET}@127.0.0.1:9",
        f"https://{SECRET}@127.0.0.1:9",
    ],
)
def test_the_proxy_s_password_is_in_no_text(
    proxy: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    options = Options(proxy_url=proxy, timeout=0.5)
    with pytest.raises(errors.NetworkProblem) as caught:
        YouTube(options).fetch(standin.MANUAL)
    with pytest.raises(errors.NetworkProblem) as listed:
        YouTube(options).list_videos(Target("playlist", standin.PLAYLIST))
    with pytest.raises(errors.NetworkProblem) as pictured:
        YouTube(options).thumbnail(standin.MANUAL)
    for error in (caught.value, listed.value, pictured.value):
        assert SECRET not in "".join(
            map(str, (error, error.hint, repr(error), error.__cause__, error.__context__))
        )
    out, err = capfd.readouterr()
    assert SECRET not in caplog.text + out + err + repr(options)


@pytest.mark.parametrize(
    "proxy",
    [
        f"nonsense://{SECRET}",
        f"http://{SECRET}:x:y@",
        f"http://a:b@host:{SECRET}",
        SECRET,
        f"http://[{SECRET}",
    ],
)
def test_what_is_no_proxy_is_said_so_without_repeating_it(proxy: str) -> None:
    with pytest.raises(errors.NetworkProblem) as caught:
        YouTube(Options(proxy_url=proxy))
    assert "PROXY_URL" in caught.value.message
    assert (
        SECRET not in f"{caught.value} {caught.value.hint} {caught.value.__cause__}"
        f" {caught.value.__context__}"
    )


# Lists


def test_a_playlist_is_listed_in_its_order(fresh: YouTubeStandIn) -> None:
    listing = lists(fresh, standin.PLAYLIST)
    assert (listing.id, listing.title) == (standin.PLAYLIST, "Stand-in Playlist")
    assert listing.video_ids == (standin.MANUAL, standin.AUTO, standin.BRITISH)


def test_an_empty_playlist_is_a_list_of_nothing(fresh: YouTubeStandIn) -> None:
    assert lists(fresh, standin.EMPTY_PLAYLIST).video_ids == ()


def test_a_long_list_is_read_page_by_page_and_each_video_once(fresh: YouTubeStandIn) -> None:
    ids = [fresh.add_video(new_id(), channel_id="UCother-channel-00000001").id for _ in range(75)]
    playlist = "PLlong-playlist-000000000000000001"
    fresh.add_playlist(playlist, [*ids, ids[0], "hidden-0001"])
    listing = lists(fresh, Target("playlist", playlist))
    assert listing.video_ids == tuple(ids)
    assert {name: error.code for name, error in listing.skipped.items()} == {
        "hidden-0001": "private_video"
    }
    assert lists(fresh, Target("playlist", playlist), newest=40).video_ids == tuple(ids[:40])


@pytest.mark.parametrize("name", ["UCbakery-channel-0000001", "@bakery"])
def test_a_channel_is_listed_by_id_and_by_handle(fresh: YouTubeStandIn, name: str) -> None:
    channel = "UCbakery-channel-00000001"[:24]
    fresh.add_channel("@bakery", channel, [standin.AUTO, standin.MANUAL], title="The Bakery")
    target = Target("channel", channel if name.startswith("UC") else name)
    listing = lists(fresh, target, newest=1)
    assert (listing.id, listing.title) == (channel, "The Bakery")
    assert listing.video_ids == (standin.AUTO,)


@pytest.mark.parametrize(
    ("tab", "ids"),
    [
        ("/videos", (standin.MANUAL,)),
        ("/shorts", (standin.AUTO, standin.CODE)),
        ("/streams", (standin.LIVE,)),
    ],
)
@pytest.mark.parametrize("name", [TABBED, "@tabbed"])
def test_a_tab_of_a_channel_lists_its_own_videos(
    fresh: YouTubeStandIn, name: str, tab: str, ids: tuple[str, ...]
) -> None:
    tabs = {"videos": [standin.MANUAL], "shorts": [standin.AUTO, standin.CODE]}
    tabs["streams"] = [standin.LIVE]
    uploads = [standin.LIVE, standin.AUTO, standin.CODE, standin.MANUAL]
    fresh.add_channel("@tabbed", TABBED, uploads, title="Tabs", tabs=tabs)
    listing = lists(fresh, name + tab)
    assert listing.video_ids == ids
    assert listing.title == f"Tabs - {tab[1:].title()}"
    assert set(lists(fresh, name).video_ids) == set(uploads)


@pytest.mark.parametrize("untitled", [False, True])
def test_a_tab_that_a_channel_does_not_have_is_said_so(
    fresh: YouTubeStandIn, monkeypatch: pytest.MonkeyPatch, untitled: bool
) -> None:
    monkeypatch.setattr(fresh, "untitled_tabs", untitled)
    fresh.add_channel("@plain", "UCplain-channel-00000001", [standin.MANUAL])
    with pytest.raises(errors.VideoRemoved) as caught:
        lists(fresh, "@plain/shorts")
    assert caught.value.message == "This channel has no such tab on YouTube, or no longer."


@pytest.mark.parametrize(
    "written", ["PLnothing-here-00000000000000000001", "UCnothing-here-000000001", "@nobody"]
)
def test_a_list_that_does_not_exist_is_said_so(fresh: YouTubeStandIn, written: str) -> None:
    with pytest.raises(errors.VideoRemoved) as caught:
        lists(fresh, written)
    assert "not on YouTube" in caught.value.message or "is no channel" in caught.value.message
    assert "video" not in caught.value.message


def test_a_blocked_list_is_blocked(fresh: YouTubeStandIn) -> None:
    fresh.blocked = True
    with pytest.raises(errors.Blocked):
        lists(fresh, standin.PLAYLIST)
    assert len(fresh.requests) == 1


def test_one_video_is_no_list(fresh: YouTubeStandIn) -> None:
    with pytest.raises(InvalidUrl):
        lists(fresh, standin.MANUAL)


# Metadata files

FIELDS = (
    *("id", "title", "fulltitle", "duration", "timestamp", "upload_date", "chapters", "tags"),
    *("subtitles", "automatic_captions", "live_status"),
)


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_any_metadata_file_gives_clean_metadata(raw: dict[str, Any]) -> None:
    info = info_from_json(raw)
    assert 0 <= info.duration < 2**31
    assert "\x00" not in info.title
    info.title.encode()


@given(st.lists(JSON, max_size=3) | st.text() | st.none())
def test_metadata_that_is_no_object_is_refused(raw: object) -> None:
    with pytest.raises(ValueError, match="JSON object"):
        info_from_json(raw)


def test_tracks_in_a_metadata_file_tell_the_languages() -> None:
    raw = {
        "id": standin.MANUAL,
        "subtitles": {
            "nl": [{"ext": "json3", "url": "https://www.youtube.com/api/timedtext?lang=nl"}],
            "live_chat": [{"ext": "json3", "url": "x"}],
        },
        "automatic_captions": {
            "en-orig": [
                {"ext": "json3", "url": "https://www.youtube.com/api/timedtext?lang=en&kind=asr"}
            ],
            "de": [
                {
                    "ext": "json3",
                    "url": "https://www.youtube.com/api/timedtext?lang=en&kind=asr&tlang=de",
                }
            ],
            "broken": [{"ext": "json3", "url": "https://[::1"}, None],
        },
    }
    assert info_from_json(raw).languages == ("nl", "en")


# Costs


def test_neither_library_is_loaded_before_youtube_is_asked() -> None:
    code = (
        "import sys, transcripts.youtube; sys.exit(any(name in sys.modules for name in"
        " ('yt_dlp', 'youtube_transcript_api', 'requests', 'django')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_guard_closes_what_it_wraps(fresh: YouTubeStandIn) -> None:
    adapter = fresh.adapter()
    Guard(adapter, Options(), RequestTrace()).close()
    assert not adapter.poolmanager.pools
