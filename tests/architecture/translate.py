"""Update the texts of the pages from the code: ``python -m tests.architecture.translate``."""

from importlib import import_module

from kbsite.boot import boot

boot()
import_module("tests.architecture.messages").write()
