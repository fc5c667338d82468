"""Languages of the pages: English, and one for each folder of kbsite/locale."""

from pathlib import Path
from typing import Final

from django.conf.locale import LANG_INFO
from django.utils.translation import to_language

__all__ = ["LANGUAGES", "LANGUAGE_CODE", "LOCALE_PATHS"]

LANGUAGE_CODE: Final = "en"
LOCALE_PATHS: Final = [Path(__file__).resolve().parent / "locale"]
_others = sorted(to_language(path.parent.parent.name) for path in LOCALE_PATHS[0].glob("*/*/*.mo"))
LANGUAGES: Final = [
    (code, LANG_INFO[code]["name_local"]) for code in dict.fromkeys([LANGUAGE_CODE, *_others])
]
