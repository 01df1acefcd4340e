//! `expected.toml` for people: the page `docs/reference/study.md` is made from here.

use document::manual::write_section;
use document::schema::{Form, Item, Section, field, required};
use std::fmt::Write;

const SELECTOR: &[Item] = &[
    field(
        "flow",
        Form::Text,
        "",
        "A node: all flows there; or one flow, `\"NODE NAME\"`; `\"*\"`: all.",
    ),
    field(
        "link",
        Form::Text,
        "",
        "A direction of a link, `\"A > B\"`; `\"A > *\"`: all from A; `\"*\"`: all.",
    ),
    field("node", Form::Text, "", "A node; `\"*\"`: all."),
    field("workload", Form::Text, "", "A workload, or a class of it, `\"NAME CLASS\"`."),
    field("network", Form::Switch, "false", "All nodes together; series alone."),
];

/// The sections of the file, in their order.
pub const SECTIONS: &[&Section] = &[
    &Section {
        name: "study",
        repeated: false,
        help: "What the folder is about.",
        fields: &[
            required("title", Form::Text, "What it is called in headings."),
            required("paper", Form::Text, "Authors, title, venue and year."),
            required("finding", Form::Text, "What the paper claims altogether."),
        ],
    },
    &Section {
        name: "labels",
        repeated: false,
        help: "What pictures and tables show for names.",
        fields: &[field(
            "NAME",
            Form::Text,
            "",
            "What is shown for this case, for the lines of curves of which the names of cases \
             begin so, for this flow (`\"NODE NAME\"`) or this link (`\"A > B\"`).",
        )],
    },
    &Section {
        name: "experiment",
        repeated: true,
        help: "A scenario's file, and what is expected of it. Every scenario in the folder belongs \
               to one at least.",
        fields: &[
            required("name", Form::Text, "Its name, which no other one of the study has."),
            required("title", Form::Text, "What it is called in headings."),
            field("place", Form::Text, "", "Where the paper has it."),
            field(
                "file",
                Form::Text,
                "",
                "The scenario's file in the folder; without it, the name with `.toml`.",
            ),
            field(
                "kind",
                Form::Word(&["paper", "beyond", "sensitivity"]),
                "\"paper\"",
                "`beyond`: the paper does not have it, and `text` says what was found. \
                 `sensitivity`: how much something that the paper leaves out matters; not in the \
                 quick form.",
            ),
            field(
                "seeds",
                Form::Number(1, i64::MAX),
                "",
                "Runs of each case: with the file's seed and those behind it. Without it 10, and 3 \
                 of a sensitivity.",
            ),
            field("set", Form::As("list of settings"), "", "Settings as `--set` takes them."),
            field("quick", Form::As("list of settings"), "", "Settings that the quick form adds."),
            field(
                "sweep",
                Form::As("table of lists"),
                "",
                "Runs with each of several settings, on top of the file's own `[sweep]`; every \
                 combination.",
            ),
            field("text", Form::Text, "", "What is said of it on its page."),
            field(
                "deviation",
                Form::Text,
                "",
                "The heading of `deviations.md` that a sensitivity belongs to, as in addresses.",
            ),
            field(
                "cases",
                Form::As("table of tables"),
                "",
                "Names for combinations of what is swept, with the settings that tell each of them \
                 from the others; what no case means is not run. Without it the values of the one \
                 swept field are the names.",
            ),
            field(
                "labels",
                Form::As("table of texts"),
                "",
                "As `labels` above, for this experiment alone.",
            ),
            field(
                "measures",
                Form::As("table of measures"),
                "",
                "Numbers that are taken from each run, by name; see below.",
            ),
            field("claim", Form::As("sections"), "", "What the paper says; see below."),
            field(
                "picture",
                Form::As("sections"),
                "",
                "What is drawn; see below. Without one the numbers of the claims are.",
            ),
            field(
                "testbed",
                Form::As("section"),
                "",
                "What is run on real daemons, with `--testbed`; see below.",
            ),
        ],
    },
    &Section {
        name: "experiment.testbed",
        repeated: false,
        help: "What `weir study --testbed` runs on real daemons beside its simulation: each case \
               once, both with the same settings.",
        fields: &[
            field("cases", Form::As("list of names"), "", "The cases; without it all."),
            field(
                "set",
                Form::As("list of settings"),
                "",
                "Settings that make it fit a small machine, for both.",
            ),
            field(
                "cause",
                Form::Text,
                "",
                "Why the two differ, where they do by more than 5 %. It is said below the table.",
            ),
        ],
    },
    &Section {
        name: "experiment.measures",
        repeated: false,
        help: "Each is a table: `rate = { flow = \"c\", series = \"goodput_mbps\", from = \"20 \
        s\", \
               take = \"mean\" }`. It is of one of `flow`, `link`, `node`, `workload`, `run`, \
               `network`, and is either a `value` or a `series`. Values that are not there, as the \
               completion time of a flow that is not complete, are left out; a claim over a run \
               without any value does not hold.",
        fields: &[
            Item::Group(SELECTOR),
            Item::Group(&[
                field(
                    "run",
                    Form::Switch,
                    "false",
                    "The run as a whole: `jain_index`, `drops`, `events`, `packet_hops`, \
                     `duration_s`, `hit_ratio`.",
                ),
                field("value", Form::Text, "", "A field of the run's [summary](results.md)."),
                field("series", Form::Text, "", "A quantity that is [sampled](results.md)."),
                field(
                    "from",
                    Form::As("time, share, `\"first end\"`, `\"last end\"`"),
                    "\"0 s\"",
                    "Samples from then on; of flows' values, flows that began then or later. A \
                     share is of the run's duration; the ends are those of the run's flows.",
                ),
                field(
                    "to",
                    Form::As("as `from`"),
                    "",
                    "Until then; without it, the end of the run.",
                ),
                field(
                    "take",
                    Form::As("word"),
                    "",
                    "What is taken of the samples: `mean`, `sd`, `min`, `max`, `median`, `p0` to \
                     `p100`, `first`, `last`, `sum`, `count`, or `settling`: seconds from `from` \
                     until it stays `within` a share of `target`.",
                ),
                field(
                    "over",
                    Form::As("word"),
                    "",
                    "What is taken where several things are meant; the same words.",
                ),
                field("target", Form::As("number"), "", "Of `settling`: what it settles at."),
                field("within", Form::Ratio, "", "Of `settling`: how far from it, `\"5 %\"`."),
            ]),
        ],
    },
    &Section {
        name: "experiment.claim",
        repeated: true,
        help: "Something that the paper says: a number with `measured`, `published`, `tolerance` \
        and \
               `reason`, or an `order`. In formulas `{MEASURE.CASE}` is a measure in a case, or \
               `{MEASURE}` where there is but one case.",
        fields: &[
            required("id", Form::Text, "Its name, which no other one of the study has."),
            field(
                "kind",
                Form::Word(&["published", "check", "calibrated"]),
                "\"published\"",
                "`check`: it holds in any network, or follows from the scenario. `calibrated`: a \
                 value that the paper leaves out was chosen so that it holds. Both are counted \
                 apart.",
            ),
            required("what", Form::Text, "What it says."),
            required("where", Form::Text, "Where in the paper."),
            field(
                "measured",
                Form::Text,
                "",
                "A formula, `\"{window.chopcop} / 32\"`; of each seed a value, of these the mean \
                 and its 95 % confidence interval.",
            ),
            field(
                "published",
                Form::As("number and unit"),
                "",
                "What the paper has, `\"23.27 chunks\"`.",
            ),
            field(
                "order",
                Form::Text,
                "",
                "Formulas with `<`, `>` or `~` (about equal) between them, `\"{rate.a} > {rate.b} \
                 ~ {rate.c}\"`. It holds if the differences over pairs of equal seeds have their \
                 sign with 95 % confidence; with one seed, if they have it.",
            ),
            field(
                "tolerance",
                Form::As("share, or number and unit"),
                "",
                "How far a number may be away: `\"10 %\"` of the published one, or in its unit, \
                 which is `points` for `%`. Of an order with `~` what is about equal, as a share \
                 of the larger term.",
            ),
            field("reason", Form::Text, "", "Why so much."),
            field(
                "explained",
                Form::Text,
                "",
                "If it does not hold: the heading of `deviations.md` that says why. A sensitivity \
                 has to name it as its `deviation`, and shows it.",
            ),
            field(
                "off",
                Form::Text,
                "",
                "If it does not hold, and nothing shows why: the heading that says what is known.",
            ),
            field(
                "found",
                Form::As("number and unit, or order"),
                "",
                "What holds instead of a claim that is `explained` or `off`, with its \
                 `tolerance`: if it does not hold, either, the result has changed, and the claim \
                 is open. A number needs it.",
            ),
        ],
    },
    &Section {
        name: "experiment.picture",
        repeated: true,
        help: "A picture of the page.",
        fields: &[
            Item::Group(&[
                required("id", Form::Text, "Its name in addresses and files."),
                required(
                    "kind",
                    Form::Word(&["time", "cdf", "curve"]),
                    "`time`: a series over time, of the first seed. `cdf`: completion times of \
                     flows, or of a workload, of all seeds. `curve`: a measure against a swept \
                     field.",
                ),
                required("title", Form::Text, "What it shows; no other picture says the same."),
            ]),
            Item::Group(SELECTOR),
            Item::Group(&[
                field("series", Form::Text, "", "Of `time`: the quantity."),
                field("measure", Form::Text, "", "Of `curve`: the measure."),
                field(
                    "x",
                    Form::Text,
                    "",
                    "Of `curve`: the swept field; there is a line for each combination of the \
                     others.",
                ),
                field("along", Form::Text, "", "Of `curve`: what the swept field is called."),
                field(
                    "log",
                    Form::Switch,
                    "false",
                    "Of `cdf` and `curve`: equal ratios have equal room on the axis to the right.",
                ),
                field("y", Form::Text, "", "What the axis of values is called."),
                field(
                    "share",
                    Form::Switch,
                    "false",
                    "Of `time`: each line as its share of what all lines of the case come to.",
                ),
                field(
                    "factor",
                    Form::As("number"),
                    "1.0",
                    "From the measured unit to the drawn one.",
                ),
                field("unit", Form::Text, "", "The drawn unit."),
                field("cases", Form::As("list of cases"), "", "Which are drawn; without it, all."),
                field(
                    "marks",
                    Form::As("list of `{ case, value, label }`"),
                    "",
                    "Values of the paper as thin lines; upright in a `cdf`.",
                ),
                field(
                    "points",
                    Form::As("list of `{ line, label, at }`"),
                    "",
                    "Points of the paper in a `curve`: `at = [[40, 15.7], [60, 20.9]]`.",
                ),
            ]),
        ],
    },
];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_what_is_read() {
        let head = "[study]\ntitle = \"t\"\npaper = \"p\"\nfinding = \"f\"\n";
        let one = "[[experiment]]\nname = \"x\"\ntitle = \"x\"\n";
        for (section, text) in [
            ("study", "[study]\nzzz = 1\n".to_owned()),
            ("experiment", format!("{head}[[experiment]]\nzzz = 1\n")),
            ("experiment.measures", format!("{head}{one}measures = {{ m = {{ zzz = 1 }} }}\n")),
            ("experiment.claim", format!("{head}{one}[[experiment.claim]]\nzzz = 1\n")),
            ("experiment.picture", format!("{head}{one}[[experiment.picture]]\nzzz = 1\n")),
        ] {
            let error = crate::read::parsed(&text).unwrap_err().message().to_owned();
            let (_, list) =
                error.split_once("expected one of").unwrap_or_else(|| panic!("{error}"));
            let mut read: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
            let section = SECTIONS.iter().find(|known| known.name == section).unwrap();
            let mut told: Vec<&str> = section.fields().map(|field| field.name).collect();
            read.sort_unstable();
            told.sort_unstable();
            assert_eq!(read, told, "{}", section.name);
        }
    }
}
