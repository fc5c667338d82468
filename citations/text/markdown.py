"""Plain text within Markdown."""

import re

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&!^=+-])")
_LIST_NUMBER = re.compile(r"^(\d+)([.)])")


def escape_markdown(text: str) -> str:
    """Return text, joined to one line, that Markdown renders literally."""
    return _LIST_NUMBER.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", " ".join(text.split())))
