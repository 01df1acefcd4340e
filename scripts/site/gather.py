"""The sources of the site, as Sphinx reads them: a copy of the documents and of what they link to.

The documents are written for a viewer of repositories. A page of a site has a navigation, and links
only to pages, so the copy differs in these points:

- `README.md` of a folder is its `index.md`.
- A linked source file, and the list of a linked folder, are pages; so are notebooks, with the code
  of their cells and without results.
- Every folder of `docs/` is a section. The order of its pages, and their groups, are those of the
  table "Where to go next" of README.md; a page that the table lacks comes last.
"""

import json
import os
import re
import tomllib
from pathlib import Path, PurePosixPath

SECTIONS = {
    "tutorial": "Tutorials",
    "how-to": "How-to guides",
    "reference": "Reference",
    "explanation": "Explanation",
    "studies": "Studies",
    "notebooks": "Notebooks",
}
INTRODUCTIONS = {
    "tutorial": "First steps with Weir, one after the other.",
    "how-to": "Recipes, each for one task.",
    "reference": "Every command, option, field, counter and byte.",
    "explanation": "Reasons: how the parts work, and why so.",
    "studies": "",
    "notebooks": "Pages with the code of each notebook. `make notebook` opens them in Jupyter.",
}
# Pages outside the sections, in the order of the navigation.
PROJECT = ["docs/architecture.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]

LINK = re.compile(r"(?P<before>\]\(|^\[[^]^]+\]: )(?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?")
# Larger files are offered as they are.
LONGEST_SOURCE = 60_000
LANGUAGES = {
    ".json": "json",
    ".lua": "lua",
    ".md": "markdown",
    ".py": "python",
    ".rs": "rust",
    ".service": "ini",
    ".sh": "bash",
    ".toml": "toml",
    ".yaml": "yaml",
}
PICTURES = {".gif", ".jpg", ".png", ".svg"}


class Gatherer:
    """Copies documents, and whatever they link to, from a repository into a folder."""

    def __init__(self, root, into):
        self.root, self.into = root, into
        # From the path of each document in the repository to that of its page.
        self.pages = {}
        # Pages of source files and folders.
        self.sources = []

    def gather(self):
        """Write the whole source; what an earlier call has left and this one has not is removed."""
        first = [*PROJECT, "README.md"]
        for section in SECTIONS:
            files = (self.root / "docs" / section).iterdir()
            ends = (".md", ".ipynb")
            files = [file.relative_to(self.root) for file in files if file.suffix in ends]
            first += [file.as_posix() for file in files]
        written = {}
        waiting = sorted(first)
        while waiting:
            path = waiting.pop()
            if path in self.pages:
                continue
            self.pages[path] = page_of(path)
            text, links = self.page(path)
            written[self.pages[path]] = text
            waiting += [link for link in links if link not in self.pages]
        self.add_navigation(written)
        self.write(written)

    def page(self, path):
        """The text of a document's page, and the paths that become pages because of its links."""
        file = self.root / path
        if file.is_dir():
            self.sources.append(page_of(path))
            return listed(path, file), []
        if file.suffix == ".ipynb":
            return self.rewritten(path, of_notebook(file))
        if file.suffix != ".md":
            self.sources.append(page_of(path))
            return of_source(path, file), []
        return self.rewritten(path, file.read_text(encoding="utf-8"))

    def rewritten(self, path, text):
        """The text with links that are right in the site, and the paths that they lead to."""
        links, lines, fence = [], [], None
        for line in text.split("\n"):
            mark = re.match(r"\s*(```+|~~~+)", line)
            if mark and fence is None:
                fence = mark[1]
            elif mark and mark[1].startswith(fence):
                fence = None
            elif fence is None:
                line = LINK.sub(lambda link: self.relinked(path, link, links), line)
            lines.append(line)
        return "\n".join(lines), links

    def relinked(self, path, link, links):
        """One link of a document, as it is in the site."""
        target = link["target"]
        if re.match(r"[a-z]+:", target):
            return link[0]
        to = os.path.normpath(PurePosixPath(path).parent / target)
        file = self.root / to
        if not file.exists():
            raise SystemExit(f"{path}: the link to {target} leads nowhere: nothing is at {to}")
        if file.is_dir() and (file / "README.md").exists():
            to = f"{to}/README.md"
        if file.suffix in PICTURES or (file.suffix != ".ipynb" and is_large(file)):
            return link[0]
        links.append(to)
        page = os.path.relpath(page_of(to), PurePosixPath(page_of(path)).parent)
        return link["before"] + page + (link["anchor"] or "")

    def add_navigation(self, written):
        """The pages of the sections, and the navigation of the first page."""
        groups = groups_of((self.root / "README.md").read_text(encoding="utf-8"))
        tops = []
        for section, title in SECTIONS.items():
            index = f"docs/{section}/index.md"
            pages = {page for page in written if page.startswith(f"docs/{section}/")} - {index}
            own = written.get(index, f"# {title}\n\n{INTRODUCTIONS[section]}\n")
            tree = tree_of(pages, groups, section == "how-to")
            if section == "studies":
                of_papers = [page for page in written if page.startswith("scenarios/")]
                of_papers = [page for page in of_papers if page not in self.sources]
                entries = [of_paper(page, written) for page in sorted(of_papers, key=by_folder)]
                tree += group("What the papers claim, and deviations", entries)
            written[index] = own + "\n" + tree
            tops.append(index)
        api = "docs/api.md"
        written[api] = of_api(self.root)
        sources = "docs/sources.md"
        text = "# Source files\n\nFiles of the repository that pages link to.\n\n"
        written[sources] = text + toctree(sorted(self.sources))
        tops += [api, *PROJECT, sources]
        others = set(written) - set(tops) - {"index.md"} - {
            page for page in written if page.startswith(("docs/", "scenarios/"))
        } - set(self.sources)
        tops[-1:-1] = sorted(others)
        written["index.md"] += "\n" + toctree(tops, hidden=True)

    def write(self, written):
        """Write what has changed, so that Sphinx reads only that again, and remove the rest."""
        for page, text in written.items():
            file = self.into / page
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                file.write_text(text, encoding="utf-8")
        for old in [file for file in self.into.rglob("*.md") if file.is_file()]:
            if old.relative_to(self.into).as_posix() not in written:
                old.unlink()
        self.link_others(written)

    def link_others(self, written):
        """Links to the folders of pictures and the files that pages offer as they are."""
        for path in self.pages:
            if not path.endswith(".md"):
                continue
            text = (self.root / path).read_text(encoding="utf-8")
            for link in LINK.finditer(text):
                to = os.path.normpath(PurePosixPath(path).parent / link["target"])
                file, place = self.root / to, self.into / to
                if file.is_file() and page_of(to) not in written and not place.is_symlink():
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.symlink_to(file)


def is_large(file):
    """True for a file that is offered, not shown."""
    return file.is_file() and file.suffix != ".md" and file.stat().st_size > LONGEST_SOURCE


def page_of(path):
    """The page of a document, a notebook, a source file or a folder."""
    pure = PurePosixPath(path)
    if pure.name == "README.md":
        return str(pure.with_name("index.md"))
    if pure.suffix == ".md":
        return path
    return str(pure.with_suffix(".md")) if pure.suffix == ".ipynb" else f"{path}.md"


def of_notebook(file):
    """A notebook's texts and code."""
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    parts = []
    for cell in cells:
        text = "".join(cell["source"])
        parts.append(f"```python\n{text}\n```" if cell["cell_type"] == "code" else text)
    return "\n\n".join(parts) + "\n"


def of_source(path, file):
    """The page of a source file."""
    text = file.read_text(encoding="utf-8").rstrip("\n")
    fence = "`" * (max(map(len, re.findall("`+", text)), default=2) + 1)
    fence = max(fence, "```", key=len)
    return f"# `{path}`\n\n{fence}{LANGUAGES.get(file.suffix, 'text')}\n{text}\n{fence}\n"


def listed(path, folder):
    """The page of a folder."""
    files = sorted(file.name + "/" * file.is_dir() for file in folder.iterdir())
    return f"# `{path}/`\n\n" + "".join(f"- `{file}`\n" for file in files)


def groups_of(readme):
    """The rows of the table of README.md: the title of each, and the pages it links to."""
    groups = []
    for row in re.findall(r"^\| ([^|]+) \| (.*) \|$", readme, re.MULTILINE):
        pages = [page_of(target) for target in re.findall(r"\]\(([^)#]+)", row[1])]
        if pages:
            groups.append((row[0][0].upper() + row[0][1:], pages))
    return groups


def tree_of(pages, groups, has_groups):
    """The contents of a section, in the order of the groups, perhaps with their headings."""
    parts = []
    rest = set(pages)
    for title, ordered in groups:
        mine = [page for page in dict.fromkeys(ordered) if page in rest]
        rest -= set(mine)
        if mine:
            parts.append((title, mine))
    if not has_groups:
        return toctree([page for _, mine in parts for page in mine] + sorted(rest))
    return "".join(group(*part) for part in parts) + (group("More", sorted(rest)) if rest else "")


def group(title, pages):
    """A heading with the pages below it."""
    return f"## {title}\n\n" + toctree(pages)


def by_folder(page):
    """Sorts the page of a folder before those of its files."""
    folder, _, name = page.rpartition("/")
    return folder, name != "index.md", name


def of_paper(page, written):
    """The entry of a page about a paper. Its own title is also that of the study's results."""
    folder, _, name = page.rpartition("/")
    title = re.search("^# (.*)$", written[f"{folder}/index.md"], re.MULTILINE)[1]
    kind = "scenarios" if name == "index.md" else name.removesuffix(".md")
    return f"{title}: {kind} </{page.removesuffix('.md')}>"


def toctree(pages, hidden=False):
    """A part of the navigation, of pages or of entries with a title of their own."""
    options = ":hidden:\n" if hidden else ":maxdepth: 1\n"
    entries = [page if page.endswith(">") else f"/{page.removesuffix('.md')}" for page in pages]
    entries = "".join(f"{entry}\n" for entry in entries)
    return f"```{{toctree}}\n{options}\n{entries}```\n\n"


def of_api(root):
    """The page of the API references, with the crates and what each is for."""
    lines = ["# API references\n", "## Rust\n"]
    lines.append("Generated from the comments of the crates. Each has its own search.\n")
    lines += ["| crate | content |", "|---|---|"]
    for name, about in crates(root):
        place = f"../rust/{name}/index.html"
        lines.append(f'| <a href="{place}"><code>{name}</code></a> | {about} |')
    lines += ["\n## Python\n", "[The package `weir`](reference/python.md)\n", "## Files\n"]
    lines.append("[JSON Schema of configuration files](reference/configuration.schema.json)\n")
    lines.append("[JSON Schema of scenario files](reference/scenario.schema.json)\n")
    return "\n".join(lines)


def crates(root):
    """The libraries of the workspace: their names in Rust, and what each is for."""
    for file in sorted(root.glob("crates/*/Cargo.toml")):
        manifest = tomllib.loads(file.read_text(encoding="utf-8"))
        library = manifest.get("lib", {})
        # The module for Python has its reference in Python's terms.
        if (file.parent / "src/lib.rs").exists() and "cdylib" not in library.get("crate-type", []):
            package = manifest["package"]
            name = library.get("name", package["name"])
            yield name.replace("-", "_"), package["description"]


def gather(root, into):
    """Write the source of the site of the repository at `root` into a folder."""
    Gatherer(Path(root).resolve(), Path(into)).gather()
