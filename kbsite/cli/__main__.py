"""``python -m kbsite.cli`` runs `kb`, wherever its script is installed."""

from kbsite.cli import main

if __name__ == "__main__":
    main()
