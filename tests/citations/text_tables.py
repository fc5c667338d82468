"""Tables of tests as text: a row a line, its cells parted by bars."""

import re


def rows(text: str) -> list[list[str]]:
    """Return the cells of each row; a row that ends with a bar goes on in the next line. Lines that
    begin with a number sign are comments.
    """
    lines = map(str.strip, re.sub(r"\|\n\s*", "| ", text).splitlines())
    return [
        [cell.strip() for cell in line.split("|")]
        for line in lines
        if line and not line.startswith("#")
    ]
