"""The packages under test: the folder that WEIR_PACKAGES names, and the files in it."""

import os
from pathlib import Path

FOLDER = Path(os.environ["WEIR_PACKAGES"])
# Files of about two segments and a rest, and of many.
SIZES = (20_000, 3_000_000)
PATIENCE = 60


def path(ending):
    """The one package with that ending."""
    (found,) = FOLDER.glob(f"*{ending}")
    return found
