"""Keep the garbage collector away from what start-up creates.

Modules, classes and models live until the process ends. To search them for garbage again and again
takes as long as to create them, at the start and once more at the end.
"""

import gc


def pause() -> None:
    """Collect nothing until ``resume``."""
    gc.disable()


def resume() -> None:
    """Never collect what exists by now; collect what comes later."""
    gc.freeze()
    gc.enable()
