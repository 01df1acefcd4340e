"""Scenarios: a network, its content, its consumers, and the events."""

import os

from . import _weir


def settings_of(settings, more=None):
    """Keyword arguments as `--set` takes them. Two underscores stand for a dot."""
    pairs = [(name.replace("__", "."), value) for name, value in settings.items()]
    pairs += list((more or {}).items())
    return [_weir.setting(name, value) for name, value in pairs if value is not None]


class Scenario:
    """A scenario, read and checked.

    Make one with `Scenario.from_file`, `Scenario.from_text`, or from its sections:

        Scenario(
            scenario={"duration": "10 s"},
            node=[{"name": ["a", "b"]}],
            link=[{"between": ("a", "b"), "rate": 20e6, "delay": 0.005}],
            content=[{"name": "/film", "at": "b", "size": "2 MB"}],
            consumer=[{"at": "a", "name": "/film", "control": "cubic"}],
        )

    A number in a field with a unit is in seconds, bits per second, bytes, packets (of a queue or a
    content store) or requests per second. `weir.sections` has a class for each section that
    completes and checks the names of fields.
    """

    def __init__(self, *parts, name=None, **sections):
        gathered = {}
        for part in parts:
            gathered.setdefault(part.section, []).append(part)
        for section, value in sections.items():
            many = list(value) if isinstance(value, (list, tuple)) else [value]
            gathered.setdefault(section, []).extend(many)
        text = _weir.document({section: list(many) for section, many in gathered.items()})
        self._scenario = _weir.Scenario.parse(text, name or "scenario", [])

    @classmethod
    def _of(cls, scenario):
        made = cls.__new__(cls)
        made._scenario = scenario
        return made

    def __reduce__(self):
        """Copies, also those in other processes, read the text again."""
        one = self._scenario
        return type(self)._again, (one.text, one.file, one.settings)

    @classmethod
    def _again(cls, text, file, settings):
        return cls._of(_weir.Scenario.parse(text, file, settings))

    @classmethod
    def from_file(cls, path, /, **settings):
        """Read a file. `settings` replace values in it, as `weir sim run --set` does."""
        return cls._of(_weir.Scenario.load(os.fspath(path), settings_of(settings)))

    @classmethod
    def from_text(cls, text, /, name="scenario", **settings):
        """Read a text. `name` is its name in messages; paths in the text are relative to it."""
        return cls._of(_weir.Scenario.parse(text, os.fspath(name), settings_of(settings)))

    @classmethod
    def from_networkx(cls, graph, *parts, link=None, **sections):
        """Take nodes and links of a networkx graph.

        Attributes of nodes and edges that are fields of `[[node]]` and `[[link]]` are taken over;
        others are left out. `link` has the fields of edges that lack them. The other sections are
        as in `Scenario(...)`.
        """
        if graph.is_multigraph():
            raise ValueError("two nodes of a scenario have one link at most; take a simple graph")
        known = {one["name"]: {field["name"] for field in one["fields"]} for one in tables()}

        def taken(section, attributes):
            return {key: value for key, value in attributes.items() if key in known[section]}

        nodes = [
            {**taken("node", attributes), "name": str(name)}
            for name, attributes in graph.nodes(data=True)
        ]
        links, seen = [], set()
        for a, b, attributes in graph.edges(data=True):
            if (b, a) in seen:
                raise ValueError(
                    f"the graph has edges from {a} to {b} and back; a link has both directions: "
                    "take `graph.to_undirected()`, and fields that differ from `back`"
                )
            seen.add((a, b))
            fields = {**(link or {}), **taken("link", attributes)}
            links.append({**fields, "between": [str(a), str(b)]})
        return cls(*parts, node=nodes, link=links, **sections)

    def to_networkx(self):
        """The network as a networkx graph.

        Nodes have `role` and `pos`. Edges have `ends`, two names of nodes, `rate` in bit/s and
        `delay` in seconds from the first of them to the second, and `rate_back` and `delay_back`
        from the second to the first. The first comes before the second in `graph.nodes`.
        """
        import networkx

        graph = networkx.Graph(name=self.name)
        for name, role, (x, y) in self._scenario.nodes():
            graph.add_node(name, role=role, pos=(x, -y))
        places = {name: place for place, name in enumerate(graph.nodes)}
        for *ends, ways in self._scenario.links():
            # The order in which `graph.edges` has the ends, whatever order the link had.
            if places[ends[0]] > places[ends[1]]:
                ends, ways = ends[::-1], ways[::-1]
            (rate, delay), (rate_back, delay_back) = ways
            back = {"rate_back": rate_back, "delay_back": delay_back}
            graph.add_edge(*ends, ends=tuple(ends), rate=rate, delay=delay, **back)
        return graph

    def set(self, more=None, /, **settings):
        """The same scenario with other values: `scenario.set(control="bbr", link__rate=1e7)`.

        Keys are those of `weir sim run --set`; two underscores stand for a dot. Keys with hyphens
        go into a dictionary: `scenario.set({"link.near-far.rate": "5 Mbit/s"})`.
        """
        return self._of(self._scenario.with_settings(settings_of(settings, more)))

    @property
    def name(self):
        """Its name in results."""
        return self._scenario.name

    @property
    def question(self):
        """The question that it answers."""
        return self._scenario.question

    @property
    def duration(self):
        """Simulated seconds."""
        return self._scenario.duration

    @property
    def text(self):
        """Its text, without settings."""
        return self._scenario.text

    @property
    def toml(self):
        """The first run as TOML, with settings and every default filled in."""
        return self._scenario.filled

    @property
    def runs(self):
        """The settings and the seed of each run; several in a sweep."""
        return [(dict(settings), seed) for settings, seed in self._scenario.runs]

    def svg(self):
        """The network as SVG."""
        return self._scenario.svg()

    def __str__(self):
        return self._scenario.drawing()

    def __repr__(self):
        nodes, links = len(self._scenario.nodes()), len(self._scenario.links())
        return f"<weir.Scenario {self.name}: {nodes} nodes, {links} links, {self.duration:g} s>"

    def _repr_svg_(self):
        return self.svg()


def tables():
    """The sections of a scenario and their fields."""
    import json

    return json.loads(_weir.sections_json())
