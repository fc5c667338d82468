"""Clock times and YouTube addresses."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transcripts.core.errors import InvalidTime, InvalidUrl
from transcripts.text.timecodes import (
    Target,
    clock,
    is_video_id,
    parse_clock,
    parse_target,
    spoken_length,
    target_url,
    watch_url,
)

VIDEO = "dQw4w9WgXcQ"
CHANNEL = "UCabcdefghijklmnopqrstuv"
PLAYLIST = "PLabcdefghijklmnopqrstuvwxyz012345"
DAYS = st.integers(min_value=0, max_value=72 * 3600 * 1000)


@pytest.mark.parametrize(
    ("ms", "written"),
    [
        (0, "0:00"),
        (5_999, "0:05"),
        (754_000, "12:34"),
        (3_599_999, "59:59"),
        (3_723_000, "1:02:03"),
        (360_000_000, "100:00:00"),
        (-5, "0:00"),
    ],
)
def test_a_time_is_written_as_a_clock(ms: int, written: str) -> None:
    assert clock(ms) == written


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (0, "0 s"),
        (40_000, "40 s"),
        (59_600, "59 s"),
        (61_000, "1 min"),
        (2_994_000, "49 min"),  # 49:54
        (3_580_000, "59 min"),
        (3_600_000, "1 h 0 min"),
        (3_900_000, "1 h 5 min"),
        (-5, "0 s"),
    ],
)
def test_a_length_is_written_in_words(ms: int, said: str) -> None:
    assert spoken_length(ms) == said


@given(ms=DAYS)
def test_a_length_in_words_and_its_clock_begin_with_the_same_numbers(ms: int) -> None:
    words = [part for part in spoken_length(ms).split() if part.isdigit()]
    shown = [str(int(part)) for part in clock(ms).split(":")]
    assert words == ([shown[1]] if ms < 60_000 else shown[:-1])


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("1:02:03", 3723),
        ("12:34.5", 754.5),
        ("12:34,5", 754.5),
        ("90:00", 5400),
        ("90", 90),
        (" 90s ", 90),
        ("1h2m3s", 3723),
        ("1H2M", 3720),
        ("2m", 120),
        ("1m30", 90),
        ("0.25", 0.25),
    ],
)
def test_a_clock_is_read_as_seconds(written: str, seconds: float) -> None:
    assert parse_clock(written) == seconds


@pytest.mark.parametrize(
    "written",
    [
        "",
        " ",
        ":",
        "1:",
        ":30",
        "-5",
        "1e3",
        "nan",
        "inf",
        "1:60",
        "1:75:00",
        "1:2:3:4",
        "٣:٠٠",
        "0x10",
        "12.5.1",
        "s",
        "h",
        "9" * 400,
        "1:00\n2:00",
    ],
)
def test_what_is_no_time_is_refused(written: str) -> None:
    with pytest.raises(InvalidTime) as caught:
        parse_clock(written)
    assert len(caught.value.message) < 200


@given(DAYS)
def test_reading_a_written_clock_gives_its_seconds_back(ms: int) -> None:
    assert parse_clock(clock(ms)) == ms // 1000


@given(st.text())
def test_reading_any_text_as_a_time_gives_seconds_or_the_typed_error(text: str) -> None:
    try:
        assert parse_clock(text) >= 0
    except InvalidTime:
        return


@pytest.mark.parametrize("text", [VIDEO, "-----------", "___________", "PLabcdefghi"])
def test_eleven_letters_are_a_video_id(text: str) -> None:
    assert is_video_id(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        VIDEO[:-1],
        VIDEO + "x",
        VIDEO + "\n",
        "dQw4w9WgXc!",
        "dQw4w9WgXcé",
        None,
        12345678901,
        b"dQw4w9WgXcQ",
    ],
)
def test_anything_else_is_no_video_id(text: object) -> None:
    assert not is_video_id(text)


@pytest.mark.parametrize(
    "address",
    [
        VIDEO,
        f"  {VIDEO}\n",
        f"https://www.youtube.com/watch?v={VIDEO}",
        f"http://youtube.com/watch?v={VIDEO}",
        f"HTTPS://WWW.YouTube.COM/watch?v={VIDEO}",
        f"https://m.youtube.com/watch?app=desktop&v={VIDEO}",
        f"https://music.youtube.com/watch?v={VIDEO}&si=abcdef",
        f"https://gaming.youtube.com/watch?v={VIDEO}",
        f"https://youtu.be/{VIDEO}?si=abcdef",
        f"https://www.youtu.be/{VIDEO}/",
        f"youtu.be/{VIDEO}",
        f"www.youtube.com/watch?v={VIDEO}&feature=share",
        f"https://www.youtube.com:443/watch?v={VIDEO}",
        f"https://www.youtube.com/shorts/{VIDEO}",
        f"https://www.youtube.com/live/{VIDEO}?feature=share",
        f"https://www.youtube.com/embed/{VIDEO}?rel=0",
        f"https://www.youtube.com/v/{VIDEO}",
        f"https://www.youtube-nocookie.com/embed/{VIDEO}",
        f"https://www.youtubekids.com/watch?v={VIDEO}",
        f"https://www.youtube.com//watch?v={VIDEO}",
        f"https://www.youtube.com/watch?v={VIDEO}&v={VIDEO}",
        f"https://www.youtube.com/watch?v={VIDEO}&list=WL",
        f"https://www.youtube.com/watch?v={VIDEO}&list=RD{VIDEO}",
        f"https://www.youtube.com/watch?v={VIDEO}&t=soon",
        f"https://www.youtube.com/watch?v={VIDEO}&t=99999999",
        f"https://www.youtube.com/watch?v={VIDEO}#90",
    ],
)
def test_every_form_of_a_video_address_is_the_same_video(address: str) -> None:
    assert parse_target(address) == Target("video", VIDEO)


@pytest.mark.parametrize(
    "address",
    [
        f"https://youtu.be/{VIDEO}?t=90",
        f"https://youtu.be/{VIDEO}?t=1m30s",
        f"https://www.youtube.com/watch?v={VIDEO}&amp;t=90s",
        f"https://www.youtube.com/watch?v={VIDEO}#t=1:30",
        f"https://www.youtube.com/embed/{VIDEO}?start=90",
    ],
)
def test_the_start_is_read_in_seconds(address: str) -> None:
    assert parse_target(address).start == 90


def test_the_list_beside_a_video_is_ignored() -> None:
    address = f"https://www.youtube.com/watch?v={VIDEO}&list={PLAYLIST}&index=3"
    assert parse_target(address) == Target("video", VIDEO)


@pytest.mark.parametrize(
    "address",
    [
        PLAYLIST,
        f"https://www.youtube.com/playlist?list={PLAYLIST}&si=x",
        f"https://www.youtube.com/watch?list={PLAYLIST}",
        f"https://www.youtube.com/embed/videoseries?list={PLAYLIST}",
        f"music.youtube.com/playlist?list={PLAYLIST}",
    ],
)
def test_every_form_of_a_playlist_address_is_the_same_playlist(address: str) -> None:
    assert parse_target(address) == Target("playlist", PLAYLIST)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (CHANNEL, CHANNEL),
        (f"https://www.youtube.com/channel/{CHANNEL}", CHANNEL),
        ("https://www.youtube.com/@some_handle/featured?view=0", "@some_handle"),
        ("@some.handle", "@some.handle"),
        ("https://www.youtube.com/@some-handle", "@some-handle"),
        ("https://www.youtube.com/@%D0%BA%D0%B0%D0%BD%D0%B0%D0%BB", "@канал"),
    ],
)
def test_a_channel_is_known_by_its_id_or_handle(address: str, name: str) -> None:
    assert parse_target(address) == Target("channel", name)


@pytest.mark.parametrize("name", [CHANNEL, "@some.handle", "@канал"])
@pytest.mark.parametrize("tab", ["videos", "shorts", "streams"])
def test_a_tab_that_lists_videos_is_a_target_of_its_own(name: str, tab: str) -> None:
    target = Target("channel", f"{name}/{tab}")
    assert parse_target(f"{name}/{tab}") == target
    assert parse_target(f"{target_url(target)}?view=0&sort=p") == target
    assert target_url(target).endswith(f"/{tab}")


@pytest.mark.parametrize(
    "tab", ["live", "playlists", "podcasts", "community", "posts", "about", "search", "store"]
)
def test_a_tab_that_lists_no_videos_is_refused(tab: str) -> None:
    for address in (f"@some.handle/{tab}", f"https://youtube.com/channel/{CHANNEL}/{tab}"):
        with pytest.raises(InvalidUrl, match=f"“{tab}”") as caught:
            parse_target(address)
        assert "playlist that you want" in caught.value.hint


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("dQw4w9WgXc", "not YouTube"),
        ("how to bake bread", "blank"),
        (f"https://youtu.be/{VIDEO} https://youtu.be/{VIDEO}", "blank"),
        (f"https://youtube.com.evil/watch?v={VIDEO}", "not YouTube"),
        (f"https://evil.example/youtube.com/watch?v={VIDEO}", "not YouTube"),
        (f"https://notyoutube.com/watch?v={VIDEO}", "not YouTube"),
        (f"https://yоutube.com/watch?v={VIDEO}", "not YouTube"),  # a Cyrillic о
        (f"https://www.youtube.com.:443/watch?v={VIDEO}", "not YouTube"),
        (f"https://127.0.0.1/watch?v={VIDEO}", "not YouTube"),
        (f"https://user:secret@www.youtube.com/watch?v={VIDEO}", "user name"),
        (f"https://www.youtube.com@evil.example/watch?v={VIDEO}", "user name"),
        (f"https://www.youtube.com:8080/watch?v={VIDEO}", "port 8080"),
        (f"https://www.youtube.com:99999/watch?v={VIDEO}", "not an address"),
        (f"https://[www.youtube.com/watch?v={VIDEO}", "not an address"),
        (f"https:\\\\www.youtube.com\\watch?v={VIDEO}", "backslash"),
        (f"https://evil.example\\@www.youtube.com/watch?v={VIDEO}", "backslash"),
        (f"https://www.youtube.com/watch?v={VIDEO}\x00", "control"),
        (f"https://www.youtube.com/\nwatch?v={VIDEO}", "control"),
        (f"ftp://www.youtube.com/watch?v={VIDEO}", "ftp"),
        (f"file:///watch?v={VIDEO}", "file"),
        ("javascript:alert(1)", "not an address"),
        ("https://www.youtube.com", "no video, playlist or channel"),
        ("https://www.youtube.com/watch", "no video"),
        ("https://www.youtube.com/watch?v=short", "no video"),
        (f"https://www.youtube.com/watch?v={VIDEO}extra", "no video"),
        (f"https://www.youtube.com/watch?v={VIDEO}%0A", "no video"),
        (f"https://youtu.be/{VIDEO}/extra", "no video"),
        (f"https://www.youtube.com/watch?v={VIDEO}&v=aaaaaaaaaaa", "two different v="),
        ("https://www.youtube.com/playlist?list=WL", "signed-in"),
        ("https://www.youtube.com/playlist?list=LL", "signed-in"),
        (f"https://www.youtube.com/playlist?list=RD{VIDEO}", "signed-in"),
        ("https://www.youtube.com/playlist", "no playlist"),
        ("https://www.youtube.com/playlist?list=../../x", "no playlist"),
        (
            f"https://www.youtube.com/redirect?q=https://youtu.be/{VIDEO}",
            "no video, playlist or channel",
        ),
        ("https://www.youtube.com/results?search_query=bread", "no video, playlist or channel"),
        ("https://www.youtube.com/c/SomeName", "no video, playlist or channel"),
        ("https://www.youtube.com/channel/UCshort", "no video, playlist or channel"),
        ("https://www.youtube.com/@a%2F..%2Fb", "no video, playlist or channel"),
        ("https://www.youtube.com/?" + "&".join(f"a{n}=1" for n in range(200)), "too many"),
        ("https://www.youtube.com/" + "a" * 3000, "longer"),
    ],
)
def test_a_nasty_address_is_refused_with_what_is_wrong(address: str, said: str) -> None:
    with pytest.raises(InvalidUrl) as caught:
        parse_target(address)
    assert said in caught.value.message
    assert "secret" not in caught.value.message
    assert len(caught.value.message) < 250


HOSTS = st.sampled_from(
    [
        "youtube.com",
        "www.youtube.com",
        "youtu.be",
        "youtube.com.evil",
        "[::1]",
        "www.youtube.com:x",
        "a@youtube.com",
    ]
)
PATHS = st.sampled_from(
    [
        "/watch?v=",
        "/shorts/",
        "/@",
        "/channel/",
        "/playlist?list=",
        "/embed/videoseries?list=",
        "/",
        "?",
        "#",
        "//",
    ]
)


@given(
    st.text()
    | st.builds(lambda host, path, rest: f"https://{host}{path}{rest}", HOSTS, PATHS, st.text())
)
@example("https://[::1")
@example("//\ud800")
@example("https://www.youtube.com/@%ff")
@example("https://℀.youtube.com/")
def test_any_text_is_a_target_or_the_typed_error(text: str) -> None:
    try:
        target = parse_target(text)
    except InvalidUrl:
        return
    assert target_url(target).startswith("https://www.youtube.com/")
    assert parse_target(target_url(target)).id == target.id


@given(st.from_regex(r"[A-Za-z0-9_-]{11}", fullmatch=True), DAYS)
def test_a_watch_address_leads_back_to_the_video_and_its_second(video_id: str, at_ms: int) -> None:
    assert parse_target(watch_url(video_id, at_ms=at_ms)) == Target(
        "video", video_id, start=at_ms // 1000
    )


def test_a_watch_address_has_whole_seconds() -> None:
    assert watch_url(VIDEO, at_ms=246_900) == f"https://www.youtube.com/watch?v={VIDEO}&t=246s"
    assert watch_url(VIDEO) == f"https://www.youtube.com/watch?v={VIDEO}"


@pytest.mark.parametrize(
    ("target", "address"),
    [
        (Target("video", VIDEO, start=90), f"https://www.youtube.com/watch?v={VIDEO}&t=90s"),
        (Target("playlist", PLAYLIST), f"https://www.youtube.com/playlist?list={PLAYLIST}"),
        (Target("channel", CHANNEL), f"https://www.youtube.com/channel/{CHANNEL}"),
        (Target("channel", "@канал"), "https://www.youtube.com/@%D0%BA%D0%B0%D0%BD%D0%B0%D0%BB"),
    ],
)
def test_an_address_is_rebuilt_from_the_id(target: Target, address: str) -> None:
    assert target_url(target) == address
