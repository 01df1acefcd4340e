//! `expected.toml` for people: the page `docs/reference/study.md` is made from here.

use crate::read::raw::SECTIONS;
use document::manual::write_section;
use std::fmt::Write;

/// The text of `docs/reference/study.md`.
#[must_use]
pub fn manual() -> String {
    let mut out = String::from(
        "# Study folder\n\n\
         `weir study DIR` runs a folder that holds scenarios, and of them\n\n\
         | file | what it is |\n|---|---|\n\
         | `README.md` | what the paper claims |\n\
         | `expected.toml` | experiments, and what is expected of each |\n\
         | `deviations.md` | what the paper leaves out, and why claims that do not hold do not |\n\
         | others that end in `.toml` | [scenarios](scenario.md) |\n\n\
         It ends with code 1 if a run failed, or if a claim does not hold and is neither \
         `explained` nor `off`. With `--quick` every case has one seed; numbers are judged of \
         experiments without `quick` settings, by all of their seeds. [Run a \
         study](../how-to/run-a-study.md) shows how one is read and written. (This page is made \
         from `crates/study/src/reference.rs`.)\n",
    );
    for section in SECTIONS {
        write_section(&mut out, section);
    }
    let _ = write!(out, "{JSON}");
    out
}

const JSON: &str = "
## What comes out

`--out DIR` (without it, `studies`) has for each study a page for browsers, the same text as
Markdown, and what `--json` prints; and `index.html` and `README.md`, which lead to
all.

| field of the JSON object | meaning |
|---|---|
| `study`, `title`, `paper`, `version`, `quick`, `jobs`, `wall_s`, `interrupted` | what was run, \
with what, how \
many runs at a time, in how many seconds |
| `claims` | of each `id`, `experiment`, `kind`, `what`, `where`, `published`, `unit`, `measured`, \
`ci95`, `tolerance`, `reason`, `holds`, `judged`, `explained`, `off`, `explanation`, `failure` |
| `experiments` | of each `experiment`, `runs`, `wanted`, `failures`, `simulated_s`, \
`packet_hops`, `run_s`, and `values`: every measure in every case |

`measured` and `ci95` (half the width of the interval) are numbers, or lists of the terms of an \
order;
`tolerance` is in the number's unit, or a share. `--all --json` prints `{\"studies\": [\u{2026}]}`.
";
