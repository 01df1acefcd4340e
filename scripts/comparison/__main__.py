"""`scripts/schemes [--quick] [SCHEME...]`, `scripts/schemes --merge SCHEME...`"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from support import weir

from . import merge, page, picture, runs


def main(arguments):
    """Runs all, writes all."""
    quick = "--quick" in arguments
    wanted = [word for word in arguments if not word.startswith("-")]
    if mistake := merge.mistake(arguments):
        print(mistake, file=sys.stderr)
        return 2
    program = weir.program("release")
    known = runs.schemes(program)
    plain = runs.baseline(known)
    if unknown := set(wanted) - {scheme["name"] for scheme in known}:
        print(f"there is no scheme {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    chosen = [s for s in known if not wanted or s["name"] in wanted]
    results = runs.all_runs(program, chosen, plain, quick)
    bench = ["cargo", "bench", "-q", "-p", "schemes", "--bench", "cost", "--", "--json"]
    said = subprocess.run(
        bench + [s["name"] for s in chosen], cwd=runs.ROOT, stdout=subprocess.PIPE, text=True,
        check=True,
    )
    rows = [json.loads(line) for line in said.stdout.splitlines() if line.startswith("{")]
    folder = runs.ROOT / "docs/explanation"
    if "--merge" in arguments:
        file = folder / "schemes.md"
        text = merge.merged(file.read_text(encoding="utf-8"), results, rows)
        file.write_text(text, encoding="utf-8")
        print(file)
        return 0
    if quick or wanted:
        folder = Path(tempfile.mkdtemp(prefix="weir-schemes-"))
    (folder / "pictures").mkdir(exist_ok=True)
    for which, found in results.items():
        picture.draw(found, folder / "pictures" / f"{which.name}.svg")
    text = page.whole(results, rows, 40 * runs.EFFICIENCY, plain)
    (folder / "schemes.md").write_text(text, encoding="utf-8")
    print(folder / "schemes.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
