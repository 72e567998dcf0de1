"""``python -m ncclcheck`` does the same as the console script."""

from ncclcheck.cli.main import console

if __name__ == "__main__":
    console()
