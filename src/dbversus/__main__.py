"""`python -m dbversus`: the command, where its folder is not on the PATH."""

from dbversus.cli.main import main

if __name__ == "__main__":
    main()
