"""Write docs/settings.md from the options that kbsite/settings.py declares: ``make docs``."""

from pathlib import Path
from textwrap import fill

from kbsite.settings import OPTIONS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
HEAD = """\
# Settings

All settings are optional. Set them in the environment or in a `.env` file beside `manage.py`.
`kb config` prints each with the origin of its value. This page is written by `make docs`.

"""


def settings_page() -> str:
    """Return the page as Markdown, one list item a setting."""
    return (
        HEAD
        + "\n".join(_item(name, option.default, option.meaning) for name, option in OPTIONS.items())
        + "\n"
    )


def _item(name: str, default: object, meaning: str) -> str:
    shown = ",".join(default) if isinstance(default, list) else str(default)
    value = f" (default `{shown}`)" if shown else ""
    text = f"- `{name}`{value}: {meaning}"
    return fill(text, 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    PAGE.write_text(settings_page())
