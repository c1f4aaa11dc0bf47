"""``python -m broadsheet`` is the ``broadsheet`` command."""

from broadsheet.cli import main

if __name__ == "__main__":
    main()
