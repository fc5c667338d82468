"""Write the generated pages of the documentation: ``python -m tests.architecture``."""

from importlib import import_module

from kbsite.boot import boot

boot()
import_module("tests.architecture.pages").write()
