"""Checks of arguments, before anything is run."""

import numbers


def whole(name, value, least=1):
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"`{name}` is a whole number, not {value!r}")
    if value < least:
        raise ValueError(f"`{name}` is at least {least}, not {value}")
    return int(value)


def real(name, value):
    """A number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"`{name}` is a number, not {value!r}")
    return float(value)


def mapping(name, value, what):
    """A dictionary by names."""
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise TypeError(f"`{name}` is a dictionary {what}, not {value!r}")
    return value


def listed(value):
    """The elements of a list, tuple, range, array or column; `None` for anything else."""
    if isinstance(value, (list, tuple, range)):
        return list(value)
    # Arrays of numpy without dimensions are numbers.
    if hasattr(value, "tolist") and getattr(value, "ndim", 1) > 0:
        return list(value.tolist())
    return None


def as_bytes(name, value):
    """A text or bytes, as bytes."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"`{name}` is bytes or a text, not {type(value).__name__}")
