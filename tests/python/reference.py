"""The stubs of `weir.sections` and the reference of the package, held against what is installed.

WEIR_REGENERATE=1 writes them.
"""

import functools
import inspect
import json
import os
import textwrap
import types
import unittest
from pathlib import Path

import weir
import weir.aio
import weir.env
import weir.fsspec
import weir.readers
import weir.sections
from weir import _weir

ROOT = Path(__file__).resolve().parents[2]
STUBS = ROOT / "python/weir/sections.pyi"
PAGE = ROOT / "docs/reference/python.md"

TYPES = {
    "text": "str",
    "path": "str | PathLike[str]",
    "number": "int",
    "switch": "bool",
    "size": "Size",
    "rate": "Rate",
    "time": "Time",
    "share": "str | float",
    "name": "str",
    "scheme": "Scheme",
}

HEAD = '''# Generated from the tables of the scenario file by tests/python/reference.py.
"""A class for each section of a scenario, with its fields as arguments."""

from datetime import timedelta
from os import PathLike
from typing import Any, Literal, TypeAlias

# A text with its unit, or a number in bytes, in bit/s, in seconds.
Size: TypeAlias = str | int
Rate: TypeAlias = str | float
Time: TypeAlias = str | float | timedelta
# The name of a scheme with its parameters, a table of them, or a class.
Scheme: TypeAlias = str | dict[str, Any] | type | Any
'''


def stubs():
    """The stubs."""
    parts = [HEAD]
    for section in json.loads(_weir.sections_json()):
        made = getattr(weir.sections, section["name"].capitalize(), None)
        if made is None:
            continue
        help = textwrap.indent(textwrap.fill(section["help"], 92), "    ").strip()
        lines = [f"\nclass {made.__name__}(dict[str, Any]):", f'    """{help}"""', ""]
        lines += [
            f'    section: Literal["{section["name"]}"]',
            "",
            "    def __init__(",
            "        self,",
        ]
        lines += ["        *,"] if section["fields"] else []
        for field in section["fields"]:
            kind, *rest = field["form"]
            type_ = TYPES.get(kind, "Any")
            if kind == "word":
                type_ = f"Literal[{', '.join(json.dumps(word) for word in rest[0])}]"
            default = "" if field["required"] else " | None = None"
            lines.append(f"        {field['name']}: {type_}{default},")
        lines += ["        **swept: list[Any],"] if section["name"] == "sweep" else []
        lines.append("    ) -> None:")
        documentation = [f"{field['name']}: {field['help']}" for field in section["fields"]]
        folded = [
            textwrap.fill(text, 88, initial_indent=" " * 8, subsequent_indent=" " * 12)
            for text in documentation
        ]
        text = "\n".join(folded).strip().replace("\\", "\\\\")
        lines += [f'        """{text}"""', ""]
        parts.append("\n".join(lines))
    return "\n".join(parts).rstrip("\n") + "\n"


# Classes that users do not make themselves.
MADE = {"Comparison", "Fetched", "Mistake", "Parameter", "Publication", "Results", "Scheme"}
MADE |= {"Data", "Group", "Icarus", "Interest", "MemberPublication", "Registration", "Search"}
MADE |= {"StreamState", "Sweep", "Table"}
MEMBERS = (classmethod, staticmethod, property, functools.cached_property, types.FunctionType)
# Properties of classes in Rust.
MEMBERS += (types.GetSetDescriptorType,)


def described(name, thing, level):
    """A function or a class: signature, documentation, members."""
    shown = signature(thing) if callable(thing) else ""
    out = [f"{'#' * level} `{name}{shown}`", "", text_of(thing), ""]
    members = list(vars(thing).items()) if inspect.isclass(thing) else []
    # Common bases of classes are no classes for users.
    for base in getattr(thing, "__bases__", ()):
        if base.__module__ == "weir._part":
            members += [one for one in vars(base).items() if one[0] not in vars(thing)]
    if any(isinstance(value, types.GetSetDescriptorType) for _, value in members):
        # Those in Rust have another order in each process.
        members.sort(key=lambda member: member[0])
    listed = []
    for member, value in members:
        if member.startswith("_") or not isinstance(value, MEMBERS) or not inspect.getdoc(value):
            continue
        value = getattr(value, "__func__", value)
        shown = signature(value) if inspect.isfunction(value) else ""
        listed.append(f"- `.{member}{shown}`: {' '.join(inspect.getdoc(value).split())}")
    return out + (listed + [""] if listed else [])


def signature(thing):
    """The arguments, without the first one of a method."""
    is_class = inspect.isclass(thing)
    if is_class and (issubclass(thing, BaseException) or thing.__name__ in MADE):
        return ""
    found = inspect.signature(thing)
    arguments = [one for name, one in found.parameters.items() if name not in ("self", "cls")]
    return "" if is_class and not arguments else str(found.replace(parameters=arguments))


def text_of(thing):
    """The documentation. Indented parts are code."""
    return inspect.getdoc(thing) or ""


def page():
    """The reference."""
    out = [
        "# Python package",
        "",
        "`pip install` of the wheel that `make wheel` builds gives the module `weir` and the",
        "program `weir`. [Use Weir from Python](../how-to/use-from-python.md) shows how. (This",
        "page is made from the documentation in `python/weir/`.)",
        "",
    ]
    for name in weir.__all__:
        if not name.startswith("_"):
            out += described(f"weir.{name}", getattr(weir, name), 2)
    out += ["## `weir.aio`", "", text_of(weir.aio), ""]
    for name in weir.aio.__all__:
        out += described(f"weir.aio.{name}", getattr(weir.aio, name), 3)
    out += ["## `weir.env`", "", text_of(weir.env), ""]
    for name in ("Flow", "Flows", "network"):
        out += described(f"weir.env.{name}", getattr(weir.env, name), 3)
    out += ["## `weir.fsspec`", "", text_of(weir.fsspec), ""]
    out += described("weir.fsspec.WeirFileSystem", weir.fsspec.WeirFileSystem, 3)
    out += ["## `weir.readers`", "", text_of(weir.readers), ""]
    for name in ("ndnsim", "icarus", "Icarus"):
        out += described(f"weir.readers.{name}", getattr(weir.readers, name), 3)
    out += [
        "## `weir.sections`",
        "",
        text_of(weir.sections),
        "",
        "Classes: " + ", ".join(f"`{name}`" for name in weir.sections.__all__) + ".",
        "Their fields are those of the [scenario file](scenario.md).",
    ]
    return "\n".join(out).rstrip("\n") + "\n"


class Reference(unittest.TestCase):
    """Files that are generated."""

    def check(self, file, text):
        """The file has this text, or is written."""
        if os.environ.get("WEIR_REGENERATE"):
            file.write_text(text, encoding="utf-8")
        there = file.read_text(encoding="utf-8") if file.exists() else ""
        shown = f"{file.relative_to(ROOT)} is out of date; run `make docs`"
        self.assertEqual(there.splitlines(), text.splitlines(), shown)

    def test_the_stubs_are_those_of_the_tables(self):
        """`python/weir/sections.pyi`."""
        self.check(STUBS, stubs())
        compile(STUBS.read_text(encoding="utf-8"), STUBS, "exec")

    def test_the_page_is_that_of_the_package(self):
        """`docs/reference/python.md`."""
        self.check(PAGE, page())

    def test_sections_check_their_fields(self):
        """Names that exist, and fields that are required."""
        sections = weir.sections
        scenario = weir.Scenario(
            sections.Scenario(duration=1, name="sections"),
            sections.Node(name=["a", "b"]),
            sections.Link(between=("a", "b"), rate=1e7),
            sections.Content(name="/x", at="b", size=1000),
            sections.Consumer(at="a", name="/x"),
        )
        self.assertEqual(repr(scenario), "<weir.Scenario sections: 2 nodes, 1 links, 1 s>")
        with self.assertRaisesRegex(TypeError, "has no field `speed`; it has between, rate"):
            sections.Link(between=("a", "b"), speed=1)
        with self.assertRaisesRegex(TypeError, "`link` needs a field `between`"):
            sections.Link(rate=1)
        self.assertIn("Rate at which bytes are sent.", sections.Link.__doc__)
