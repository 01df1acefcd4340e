"""The packages under test: the folder that WEIR_PACKAGES names, and the files in it."""

import os
import unittest
from pathlib import Path

FOLDER = Path(os.environ["WEIR_PACKAGES"])
# The arguments of `scripts/packages` that built them: a profile, and packages unless it is all.
BUILD = os.environ.get("WEIR_PACKAGES_BUILD", "").split()
# Files of about two segments and a rest, and of many.
SIZES = (20_000, 3_000_000)
PATIENCE = 60


def path(ending):
    """The one package with that ending."""
    (found,) = FOLDER.glob(f"*{ending}")
    return found


def need(package):
    """Skip the tests of a package that was left out of the build."""
    if package not in (BUILD[1:] or [package]):
        raise unittest.SkipTest(f"no {package} is built; WEIR_PACKAGES=all builds and tests it")
