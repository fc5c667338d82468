"""Write the generated pages and icons: ``python -m tests.architecture``."""

from importlib import import_module

from kbsite.boot import boot

boot()
for name in ("pages", "masks"):
    import_module(f"tests.architecture.{name}").write()
