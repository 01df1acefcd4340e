"""The schemes that can be chosen."""

import json
from dataclasses import dataclass

from . import _weir


@dataclass(frozen=True)
class Parameter:
    """A parameter of a scheme.

    `low` and `high` are in seconds, bit/s or bytes, if it has a unit.
    """

    name: str
    default: str
    low: float
    high: float
    help: str
    source: str


@dataclass(frozen=True)
class Scheme:
    """A scheme, as `weir schemes NAME` explains it.

    Call it to choose parameters: `cubic = weir.schemes()["cubic"]; cubic(beta=0.8)` gives the text
    `cubic:beta=0.8`.
    """

    name: str
    summary: str
    paper: str
    parts: tuple
    default_for: tuple
    equations: tuple
    parameters: tuple

    def __call__(self, **parameters):
        """The text that chooses this scheme with these parameters."""
        known = {parameter.name for parameter in self.parameters}
        for name in parameters:
            if name not in known:
                names = ", ".join(sorted(known)) or "none"
                raise TypeError(f"`{self.name}` has no parameter `{name}`; it has {names}")
        texts = [f"{name}={_text(value)}" for name, value in parameters.items()]
        return f"{self.name}:{','.join(texts)}" if texts else self.name

    @property
    def __weir_name__(self):
        return self.name


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def schemes():
    """Every scheme, by its name."""
    found = {}
    for row in json.loads(_weir.schemes_json()):
        row["parameters"] = tuple(Parameter(**one) for one in row["parameters"])
        row["equations"] = tuple((one["number"], one["text"]) for one in row["equations"])
        row["parts"], row["default_for"] = tuple(row["parts"]), tuple(row["default_for"])
        found[row["name"]] = Scheme(**row)
    return found


def colour(scheme, /, *, dark=False):
    """The colour of a scheme in every picture, such as `#0072b2`, on light or on dark ground."""
    return _weir.scheme_colour(getattr(scheme, "__weir_name__", scheme), dark)
