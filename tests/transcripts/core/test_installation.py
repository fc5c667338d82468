"""What installs an extra, as an error advises."""

import pytest

from transcripts.core import installation


@pytest.mark.parametrize(
    ("is_checkout", "command"),
    [(True, ".venv/bin/pip install -e '.[ocr]'"), (False, "pip install 'cuebase[ocr]'")],
)
def test_an_extra_is_installed_where_cuebase_is(
    is_checkout: bool, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "_IS_CHECKOUT", is_checkout)
    assert installation.install_command("ocr") == command
