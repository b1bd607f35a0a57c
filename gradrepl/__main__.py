"""`python -m gradrepl` is `gradrepl`."""

import sys

from gradrepl.cli import main

if __name__ == "__main__":
    sys.exit(main())
