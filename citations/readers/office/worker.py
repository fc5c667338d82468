"""Program of the child process that reads DOCX, PPTX, ODT and EPUB files.

A small archive may unpack to any size, and its XML be nested to any depth. The program is run by
its path, imports no framework, fetches nothing and writes no files. It reads the file from standard
input and answers as ``parser_process`` says.
"""

import sys
from typing import Final

from citations.readers import parser_process
from citations.readers.office import docx, epub, odt, pptx
from citations.readers.office.archive import Package
from transcripts.core.errors import KnowledgeBaseError

READERS: Final = {"docx": docx.read, "pptx": pptx.read, "odt": odt.read, "epub": epub.read}


def main() -> None:
    """Read standard input as a file of a kind within a number of CPU seconds."""
    kind, seconds = sys.argv[1], int(sys.argv[2])
    parser_process.limit(seconds)
    try:
        parser_process.answer(*READERS[kind](Package(sys.stdin.buffer)))
    except KnowledgeBaseError as error:
        parser_process.refuse(error)


if __name__ == "__main__":
    main()
