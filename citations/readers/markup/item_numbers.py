"""How the numbers of a list's items are written: in digits, letters or Roman numerals."""

from typing import Final

_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MOST: Final = 4_000  # above it, numbers are written in digits


def written(number: int, format: str) -> str:
    """Return a number in a format, such as ``lowerRoman`` of Word or ``i`` of HTML; "" in ``none``.

    >>> written(4, "lowerRoman"), written(28, "A"), written(3, "decimal")
    ('iv', 'AB', '3')
    """
    if format == "none":
        return ""
    if not 0 < number < _MOST:
        return str(number)
    if format in ("lowerRoman", "i", "upperRoman", "I"):
        text = ""
        for value, letters in _ROMAN:
            text += letters * (number // value)
            number %= value
        return text.upper() if format in ("upperRoman", "I") else text
    if format in ("lowerLetter", "a", "upperLetter", "A"):
        text = ""
        while number:
            number, rest = divmod(number - 1, 26)
            text = chr(ord("a") + rest) + text
        return text.upper() if format in ("upperLetter", "A") else text
    return str(number)
