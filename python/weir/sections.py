"""A class for each section of a scenario, with its fields as arguments.

    from weir.sections import Consumer, Content, Link, Node, Scenario as About

    link = Link(between=("a", "b"), rate=1e7, delay=0.01)
    weir.Scenario(About(duration=10), Node(name=["a", "b"]), link, …)

They are dictionaries. The classes, their arguments and documentation come from the tables of the
scenario file's fields.
"""

import inspect

from ._scenario import tables

# The section of the directions of a link, which stands inside of other sections.
_INNER = "link direction"


def _class_name(section):
    return "".join(word.capitalize() for word in section.split("-"))


def _documentation(section):
    lines = [section["help"], ""]
    for field in section["fields"]:
        default = f" Default: `{field['default']}`." if field["default"] else ""
        required = " Required." if field["required"] else ""
        lines.append(f"{field['name']}: {field['help']}{required}{default}")
    return "\n".join(lines)


def _made(section):
    names = [field["name"] for field in section["fields"]]
    required = [field["name"] for field in section["fields"] if field["required"]]
    is_open = section["name"] == "sweep"

    def init(self, **fields):
        for name in fields:
            if name not in names and not is_open:
                valid = ", ".join(names)
                raise TypeError(f"`{section['name']}` has no field `{name}`; it has {valid}")
        missing = [name for name in required if fields.get(name) is None]
        if missing:
            raise TypeError(f"`{section['name']}` needs a field `{missing[0]}`")
        given = {name.replace("__", "."): one for name, one in fields.items() if one is not None}
        dict.__init__(self, given)

    keyword = inspect.Parameter.KEYWORD_ONLY
    arguments = [
        inspect.Parameter(
            name, keyword, default=inspect.Parameter.empty if name in required else None
        )
        for name in names
    ]
    members = {
        "__init__": init,
        "__doc__": _documentation(section),
        "__module__": __name__,
        "__signature__": inspect.Signature(arguments),
        "section": section["name"],
    }
    return type(_class_name(section["name"]), (dict,), members)


__all__ = []
for _section in tables():
    if _section["name"] != _INNER:
        _one = _made(_section)
        globals()[_one.__name__] = _one
        __all__.append(_one.__name__)
