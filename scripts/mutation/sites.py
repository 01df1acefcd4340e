"""Rewrites a source file so that each of its mutants can be switched on at run time.

A site is a place with one or more mutants: an operator with its operands, the guard of a match arm,
an arm, the beginning of a function's body. At most one mutant is active, so a mutated branch holds
the original text of its operands, and only the unchanged branch holds sites again.
"""

from dataclasses import dataclass, field

import tree_sitter
import tree_sitter_rust

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))

# Nodes whose expressions the compiler evaluates: no switch works there.
CONSTANT = {"const_item", "static_item", "array_type", "enum_variant", "const_block"}

EITHER = "crate::mutant_switch::Either::"


class NoSite(Exception):
    """The mutant cannot be switched: it needs a build of its own."""


class Unviable(Exception):
    """The mutant cannot be compiled, whatever is built."""


@dataclass
class Site:
    """A place with its mutants; `branches` are (mutant, text)."""

    start: int
    end: int
    kind: str
    branches: list = field(default_factory=list)


@dataclass
class Rewritten:
    """The new text, and where in it branches and sites are: (start, end, mutants)."""

    text: bytes
    branches: list
    sites: list


def node_at(tree, start, end, kinds):
    """The outermost node of the kinds that begins at `start` and lies within start..end."""
    node = tree.root_node.descendant_for_byte_range(start, max(start, end - 1))
    while node.parent and node.parent.start_byte == start and node.parent.end_byte <= end:
        node = node.parent
    while node and node.type not in kinds:
        node = node.parent
    return node


def is_constant(node):
    """True if the compiler evaluates the node: in a constant, an array's length, a
    discriminant."""
    while node:
        if node.type in CONSTANT:
            return True
        above = node.parent
        if above and above.type == "array_expression":
            length = above.child_by_field_name("length")
            if length and length.start_byte <= node.start_byte < length.end_byte:
                return True
        if node.type in ("function_item", "closure_expression"):
            return False
        node = above
    return False


def const_functions(source):
    """(name, start and end of the item, start and end of the word `const`) of each `const fn`."""
    found = []

    def walk(node):
        if node.type == "function_item":
            modifiers = next((c for c in node.children if c.type == "function_modifiers"), None)
            words = modifiers.children if modifiers else []
            for word in words:
                if word.type == "const":
                    name = node.child_by_field_name("name").text.decode()
                    found.append(
                        (name, node.start_byte, node.end_byte, word.start_byte, word.end_byte)
                    )
        for child in node.children:
            walk(child)

    walk(PARSER.parse(source).root_node)
    return found


def match_at(source, at):
    """Where the `match` begins and ends whose scrutinee begins at `at`."""
    node = PARSER.parse(source).root_node.descendant_for_byte_range(at, at + 1)
    while node and node.type != "match_expression":
        node = node.parent
    return (node.start_byte, node.end_byte) if node else (0, 0)


def place(source, tree, mutant):
    """(start, end, kind, text of the mutated branch) of a mutant."""
    at, end = mutant.start, mutant.end

    def text(a, b):
        return source[a:b].decode()

    if mutant.genre == "FnValue":
        if "impl " in mutant.returns:
            # One type for both: an iterator that is the function's or the mutant's.
            if "impl Iterator" not in mutant.returns or "return " in text(at, end):
                raise NoSite("returns `impl`: one type, the mutant's or the function's")
            return at, end, "iterator", mutant.replacement
        return at, at, "body", f"return {mutant.replacement}"
    if mutant.genre == "BinaryOperator":
        node = tree.root_node.descendant_for_byte_range(at, end)
        while node and node.type not in ("binary_expression", "compound_assignment_expr"):
            if node.type == "let_chain":
                raise Unviable("a let chain has no ||")
            node = node.parent
        operator = node and node.child_by_field_name("operator")
        if operator is None or operator.start_byte != at or is_constant(node):
            raise NoSite("constant")
        new = text(node.start_byte, at) + mutant.replacement + text(end, node.end_byte)
        return node.start_byte, node.end_byte, "value", new
    if mutant.genre == "UnaryOperator":
        node = tree.root_node.descendant_for_byte_range(at, end)
        while node and not (node.type == "unary_expression" and node.start_byte == at):
            node = node.parent
        if node is None or is_constant(node):
            raise NoSite("constant")
        return at, node.end_byte, "value", mutant.replacement + text(end, node.end_byte)
    if mutant.genre == "MatchArmGuard":
        guard = text(at, end)
        if "let " in guard:
            raise NoSite("a guard with `let`")
        return at, end, "value", mutant.replacement
    if mutant.genre == "MatchArm":
        arm = node_at(tree, at, end, ("match_arm",))
        pattern = arm and next((c for c in arm.children if c.type == "match_pattern"), None)
        if pattern is None or is_constant(arm):
            raise NoSite("an arm")
        guard = pattern.child_by_field_name("condition")
        if guard:
            if guard.type in ("let_chain", "let_condition"):
                raise NoSite("a guard with `let`")
            return guard.start_byte, guard.end_byte, "value", "false"
        return pattern.end_byte, pattern.end_byte, "arm", ""
    if mutant.genre == "StructField":
        node = tree.root_node.descendant_for_byte_range(at, at + 1)
        while node and not node.type.endswith("field_initializer"):
            node = node.parent
        fields = node.parent.children if node else []
        base = next((c for c in fields if c.type == "base_field_initializer"), None)
        if base is None:
            raise NoSite("a field")
        name = node.child_by_field_name("field") or node.children[0]
        value = node.child_by_field_name("value")
        new = f"({base.text.decode().removeprefix('..')}).{name.text.decode()}"
        if value is None:
            return node.start_byte, node.end_byte, f"{name.text.decode()}: ", new
        return value.start_byte, value.end_byte, "value", new
    raise NoSite(mutant.genre)


def sites_of(source, mutants):
    """Sites, and the mutants that have none with the reason: ([Site], {number: reason})."""
    tree = PARSER.parse(source)
    found, without = {}, {}
    for mutant in mutants:
        try:
            start, end, kind, text = place(source, tree, mutant)
        except NoSite as why:
            without[mutant.number] = ("alone", str(why))
            continue
        except Unviable as why:
            without[mutant.number] = ("unviable", str(why))
            continue
        site = found.setdefault((start, end, kind), Site(start, end, kind))
        site.branches.append((mutant, text))
    return sorted(found.values(), key=lambda s: (s.start, s.end > s.start, -s.end)), without


def rewrite(source, sites, first_of, unconst):
    """The file with its switches. `first_of(site)` is the number of its first switch; `unconst`
    lists the words `const` (start, end) to leave out."""
    out, branches, ranges = bytearray(), [], []
    removed = {start: end for start, end in unconst}

    def copy(start, end):
        while start < end:
            word = min((s for s in removed if start <= s < end), default=None)
            if word is None:
                out.extend(source[start:end])
                return
            out.extend(source[start:word])
            start = removed[word]

    def branch(pattern, mutant, text, after):
        out.extend(pattern.encode())
        begin = len(out)
        out.extend(text.encode())
        branches.append((begin, len(out), mutant))
        out.extend(f"{after}, ".encode())

    def emit(start, end, inner):
        at = start
        while inner:
            site, rest = inner[0], inner[1:]
            within = [s for s in rest if s.end <= site.end and s.start < site.end]
            inner = rest[len(within):] if site.end > site.start else rest
            copy(at, site.start)
            begin = len(out)
            one(site, within if site.end > site.start else [])
            ranges.append((begin, len(out), [mutant for mutant, _ in site.branches]))
            at = site.end
        copy(at, end)

    def one(site, within):
        call = f"crate::mutant_switch::which({first_of(site)}, {len(site.branches)})"
        if site.kind == "arm":
            out.extend(f" if {call} == 0".encode())
            return
        if site.kind == "body":
            out.extend(f"match {call} {{ 0 => {{}}, ".encode())
        else:
            # A field that has its variable's name gets a value of its own.
            field = site.kind if site.kind.endswith(": ") else ""
            first = EITHER + "Left({" if site.kind == "iterator" else ""
            out.extend(f"{field}(match {call} {{ 0 => {first}".encode())
            emit(site.start, site.end, within)
            out.extend(b"}), " if first else b", ")
        for index, (mutant, text) in enumerate(site.branches, 1):
            last = index == len(site.branches)
            before = after = ""
            if site.kind == "iterator":
                before = (EITHER + "Right(") * index + ("" if last else EITHER + "Left(")
                after = ")" * (index + (not last))
            branch(("_ => " if last else f"{index} => ") + before, mutant, text, after)
        out.extend(b"} " if site.kind == "body" else b"})")

    emit(0, len(source), sites)
    return Rewritten(bytes(out), branches, ranges)
