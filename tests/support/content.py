"""Files to send: made quickly, the same for the same seed, impossible to compress."""

import hashlib
import random

MEGABYTE = 1_000_000


def make(path, size, seed=1):
    """Write a file of that many bytes and return its path."""
    dice = random.Random(seed)
    with open(path, "wb") as out:
        for begin in range(0, size, MEGABYTE):
            out.write(dice.randbytes(min(MEGABYTE, size - begin)))
    return path


def sha256(path):
    """The digest of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(MEGABYTE):
            digest.update(part)
    return digest.hexdigest()
