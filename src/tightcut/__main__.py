"""``python -m tightcut`` is the same as the command ``tightcut``."""

import sys

from tightcut.cli import main

if __name__ == "__main__":
    sys.exit(main())
