"""Run `kb` as ``python -m kbsite.cli``: processes that start others do not depend on where the script lies."""

from kbsite.cli import main

if __name__ == "__main__":
    main()
