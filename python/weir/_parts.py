"""Schemes in Python: subclass one of these, and the class can be chosen by its name.

A class is registered when it is defined. Its name in scenarios is `name`, or its own name in lower
case with hyphens. Defining it again, as when a cell of a notebook runs again, replaces it.
"""

import copy
import inspect
import re

from . import _weir

# Methods of the base classes that a scheme may leave out. They are not called then.
_OPTIONAL = {
    "on_ack",
    "on_round",
    "on_data",
    "on_loss",
    "on_deadline",
    "on_enqueue",
    "on_dequeue",
    "on_interest_dequeue",
    "on_nack",
    "on_timer",
    "on_expiry",
    "on_returned",
    "seed",
}


# The classes, by the names of their schemes.
REGISTERED = {}


class Param:
    """A parameter of a scheme, as an attribute of its class.

    `beta = weir.Param(0.7, low=0.1, high=0.9, help="factor of the cut")` is `self.beta` in the
    scheme, and `steady:beta=0.8` in a scenario. `unit` is `s`, `bit/s` or `B`; the scenario then
    takes texts such as `5 ms`. A default of True or False makes a switch.
    """

    def __init__(self, default, *, low=None, high=None, unit="", help=""):
        is_switch = isinstance(default, bool)
        self.default = float(default)
        self.unit = "switch" if is_switch else unit
        self.low = float(low) if low is not None else (0.0 if is_switch or unit else -1e300)
        self.high = float(high) if high is not None else (1.0 if is_switch else 1e18)
        self.help = help
        if not is_switch and not self.low <= self.default <= self.high:
            raise ValueError(f"the default {default} is not between {self.low} and {self.high}")


class _Part:
    """Base of all parts. `part` is what a class adds to Weir."""

    part = None
    name = None
    __weir_name__ = None

    def __init_subclass__(cls, *, register=True, **rest):
        super().__init_subclass__(**rest)
        if register:
            make_scheme(cls)

    @classmethod
    def _weir_make(cls, values):
        """One for a flow or a face, with these parameters."""
        made = cls.__new__(cls)
        vars(made).update(values)
        made.__init__()
        return made

    def _weir_copy(self):
        return copy.deepcopy(self)


def make_scheme(cls):
    """Make a class a scheme, by its name."""
    bases = [base for base in cls.__mro__ if base.__module__ == __name__]
    own = {
        method
        for method in _OPTIONAL
        if callable(getattr(cls, method, None))
        and not any(getattr(cls, method) is getattr(base, method, None) for base in bases)
    }
    rows, found = [], {}
    for base in reversed(cls.__mro__):
        found |= {key: one for key, one in vars(base).items() if isinstance(one, Param)}
    for key, one in found.items():
        rows.append((key, one.default, one.unit, one.low, one.high, one.help))
    cls.name = vars(cls).get("name") or _hyphened(cls.__name__)
    summary = (inspect.getdoc(cls) or "").strip().split("\n", 1)[0]
    if any(vars(base).get("__doc__") == cls.__doc__ for base in bases):
        summary = ""
    _weir.add_scheme(cls, cls.name, cls.part, summary or "a scheme in Python", rows, own)
    cls.__weir_name__ = cls.name
    REGISTERED[cls.name] = cls


def _hyphened(name):
    words = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3-\2\4", name)
    return words.replace("_", "-").lower()


class WindowLaw(_Part, register=False):
    """A scheme that is only a window.

    Set `self.window`, in segments, in `__init__` and in the methods. Weir does accounting,
    round-trip times, timeouts, pacing, and at most one cut for each round trip. Each flow has an
    object of its own. It is copied before a cut, which is undone if there was no congestion.

    `pacing_gain` spreads the window over a round trip, at this multiple of its rate; 0 sends
    as the window allows.
    """

    part = "law"
    window = 1.0
    pacing_gain = 1.25
    answers_every_mark = False

    def on_ack(self, cx, ack):
        """Handle Data without a mark that arrived in time."""

    def on_round(self, cx, round):
        """Handle the end of a round trip, with what it brought."""

    def on_congestion(self, cx, signal, rtt):
        """Handle congestion. `signal` is `mark`, `timeout`, `gap` or `nack`."""
        raise NotImplementedError("a window law needs the method `on_congestion`")

    def seed(self, segments):
        """Start from this window."""
        self.window = max(1.0, segments)


class Controller(_Part, register=False):
    """A consumer that decides itself when to ask for which segment.

    `window` is a number for the record, or None. `next_deadline` is the simulated time in seconds
    at which `on_deadline` is to be called, or None; after that call it must be later than now.
    """

    part = "controller"
    window = None
    next_deadline = None

    def permit(self, now, ask):
        """Decide about a request; a repeated call must change nothing.

        True: ask now. False: not for this segment. A number: nothing before this time. None:
        nothing until something arrives or is lost.
        """
        raise NotImplementedError("a controller needs the method `permit`")

    def on_sent(self, cx, sent):
        """Handle an Interest that left. Returns the seconds after which it counts as lost."""
        raise NotImplementedError("a controller needs the method `on_sent`")

    def on_data(self, cx, arrival):
        """Handle Data that arrived."""

    def on_loss(self, cx, loss):
        """Handle a segment that is considered lost."""

    def on_deadline(self, cx):
        """Handle the time of `next_deadline`."""

    def seed(self, cx, segments):
        """Start from this window."""


class Marker(_Part, register=False):
    """Queue management on the outgoing Data of a face.

    The methods return None or True to pass a packet, False to drop it, or a number, the mark that
    it gets.
    """

    part = "marker"

    def on_enqueue(self, cx, link, packet):
        """Judge Data that is about to join the queue."""

    def on_dequeue(self, cx, link, packet, sojourn):
        """Judge Data that leaves the queue after `sojourn` seconds."""

    def on_interest_dequeue(self, cx, link, packet, sojourn):
        """Judge an Interest that leaves its queue. A mark comes back on its Data."""


class Shaper(_Part, register=False):
    """Shaping of Interests on a face.

    `stage` is `arrival`, `miss` or `departure`. `next_release` is the simulated time in seconds of
    the next call of `release`, or None.
    """

    part = "shaper"
    stage = "departure"
    next_release = None

    def offer(self, cx, link, other, packet):
        """Judge an Interest. True: pass. False: reject with a Nack. None: hold it."""
        raise NotImplementedError("a shaper needs the method `offer`")

    def release(self, cx, link):
        """Return the `handle` of a held Interest that may go now, or None."""

    def on_returned(self, cx, link, flow, expected, size, taken):
        """Handle the outcome of a released Interest. `size` is None if no Data came."""


class Strategy(_Part, register=False):
    """A forwarding strategy; each prefix that has chosen it has an object of its own.

    The methods return a list of actions: `("forward", face)`, `("probe", face)`,
    `("nack", "congestion" | "duplicate" | "no-route")`, `("retry", time)`, `("linger", seconds)`.
    """

    part = "strategy"

    def on_interest(self, cx, entry):
        """Decide about an Interest that the content store could not answer."""
        raise NotImplementedError("a strategy needs the method `on_interest`")

    def on_data(self, cx, entry):
        """Handle Data that satisfies the entry."""

    def on_nack(self, cx, entry, reason):
        """Handle a Nack. Returns actions."""

    def on_timer(self, cx, entry):
        """Handle the time of a `retry`. Returns actions."""

    def on_expiry(self, cx, entry):
        """Handle the end of an entry that was not answered."""
