"""Template filters escape what they mark, and write moments."""

from datetime import timedelta

import pytest
from django.utils import timezone

from transcripts.templatetags.transcripts import ago, is_of_this_machine, marked, with_code


def test_marking_escapes_everything_but_its_own_marks() -> None:
    assert (
        marked("<b>a & b</b>", [(3, 4), (7, 8)])
        == "&lt;b&gt;<mark>a</mark> &amp; <mark>b</mark>&lt;/b&gt;"
    )


def test_code_in_hints_is_escaped() -> None:
    assert with_code("run `kb <x>` & wait") == "run <code>kb &lt;x&gt;</code> &amp; wait"


def test_a_recent_moment_is_just_now() -> None:
    assert ago(timezone.now()) == "just now"
    assert ago(timezone.now() - timedelta(hours=3)) == "3\xa0hours ago"


@pytest.mark.parametrize(
    ("address", "is_here"),
    [
        ("http://127.0.0.1:8000/shared/x/", True),
        ("http://localhost/shared/x/", True),
        ("http://[::1]:8000/", True),
        ("https://kb.example.org/shared/x/", False),
        ("http://192.168.1.20:8000/", False),
        ("/shared/x/", False),
    ],
)
def test_an_address_that_leads_every_machine_to_itself_is_of_this_machine(
    address: str, is_here: bool
) -> None:
    assert is_of_this_machine(address) is is_here
