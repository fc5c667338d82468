"""Plain text within Markdown."""

import re

# Elsewhere than at a beginning, “-”, “+” and “>” mean nothing, and words with “\\-” are not found.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<#|~$^=]|&(?=#?\w+;)|^[+>-])")
_LIST_NUMBER = re.compile(r"^(\d+)([.)])")
# What readers of Markdown link by themselves: addresses with a scheme or a path, and of mail.
_ADDRESS = re.compile(
    r"((?:\b[a-z][a-z\d+.-]*:)?//[^\s`|]+|\b(?:www\.|mailto:|xmpp:)[^\s`|]+"
    r"|[^\s`|@/<>()\[\]]{1,64}@[^\s`|]+|\b[\w-]{1,63}(?:\.[\w-]{1,63}){0,9}\.[a-z]{2,63}/[^\s`|]*)",
    re.IGNORECASE,
)


def escape_markdown(text: str) -> str:
    """Return text, joined to one line, that Markdown renders literally.

    Addresses become code: a reader that links bare addresses would link them however escaped.
    """
    parts = _ADDRESS.split(" ".join(text.split()))
    written = (
        f"`{part}`" if index % 2 else _SPECIAL.sub(r"\\\1", part)
        for index, part in enumerate(parts)
    )
    return _LIST_NUMBER.sub(r"\1\\\2", "".join(written))
