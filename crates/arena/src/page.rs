//! The page: the answer, the wanted figures, the ranking, definitions, cells and fronts.

use crate::model::Term;
use crate::outcome::{CellOutcome, Entry, Outcome};
use crate::pictures::fronts;
use report::picture::Picture;
use report::{article, figures};
use std::fmt::Write;

/// The page of an arena.
pub struct Page {
    title: String,
    /// Markdown, with a place for each picture.
    text: String,
    pictures: Vec<Picture>,
}

impl Page {
    /// The page of an outcome. `readme` has the definitions of measures and score.
    #[must_use]
    pub fn new(outcome: &Outcome, readme: &str) -> Page {
        let mut text = String::new();
        answer(&mut text, outcome);
        wanted(&mut text, outcome);
        ranking(&mut text, outcome);
        let definitions =
            readme.lines().skip_while(|line| line.is_empty() || line.starts_with("# "));
        text.push_str(&definitions.collect::<Vec<_>>().join("\n"));
        text.push_str("\n\n");
        judged(&mut text, outcome);
        regrets(&mut text, outcome);
        let pictures = fronts(outcome);
        let _ = writeln!(text, "## Pareto fronts\n");
        for picture in &pictures {
            let _ = writeln!(text, "<!-- picture: {} -->\n", picture.id);
        }
        failures(&mut text, outcome);
        again(&mut text, outcome);
        Page { title: outcome.arena_title.clone(), text, pictures }
    }

    /// A self-contained HTML file.
    #[must_use]
    pub fn html(&self) -> String {
        let text = format!("# {}\n\n{}", self.title, self.text);
        let body = format!("<p class=\"over\">Weir study</p>\n{}", study::to_html(&text));
        article(&self.title, &body, &self.pictures)
    }

    /// Markdown with its pictures in `pictures/` beside it; the folder of the arena is at `folder`.
    #[must_use]
    pub fn markdown(&self, folder: &str) -> String {
        let text = format!("# {}\n\n{}", self.title, self.text);
        // Links of the README are relative to its own folder.
        let text = text
            .replace("](../../docs/", "](../")
            .replace("`arena.toml`", &format!("[`arena.toml`]({folder}/arena.toml)"));
        let whole = figures(&text, |id| {
            let picture = self.pictures.iter().find(|picture| picture.id == id)?;
            let Picture { title, caption, .. } = picture;
            Some(format!("![{title}](pictures/{id}.svg)\n\n<sub>{caption}</sub>"))
        });
        whole.trim_end().to_owned() + "\n"
    }

    /// The pictures.
    #[must_use]
    pub fn pictures(&self) -> &[Picture] {
        &self.pictures
    }
}

fn percent(value: f64) -> String {
    format!("{:.1}", value * 100.0)
}

fn seeds(outcome: &Outcome) -> String {
    match outcome.seeds {
        1 => "one seed".to_owned(),
        seeds => format!("{seeds} seeds"),
    }
}

fn answer(text: &mut String, outcome: &Outcome) {
    let judged = &outcome.judged;
    let ranking = outcome.ranking();
    let place = ranking.iter().position(|scheme| scheme == judged).map_or(0, |at| at + 1);
    let worst = outcome.worst(judged).map_or_else(String::new, |(cell, regret)| {
        format!(", and at most {} % (`{}`)", percent(regret), cell.cell)
    });
    let next = ranking.iter().find(|scheme| **scheme != *judged);
    let next = next.map_or_else(String::new, |scheme| {
        let what = if place == 1 { "next is" } else { "the best other is" };
        format!(" {what} `{scheme}` with {} %", percent(outcome.mean_regret(scheme)))
    });
    let _ = writeln!(
        text,
        "How far is each scheme from the best of all, in every network? `{judged}` is number \
         {place} of {} schemes: over {} its score is {} % below the best on \
         average{worst};{next}.\n",
        ranking.len(),
        match outcome.cells.len() {
            1 => "one cell".to_owned(),
            cells => format!("{cells} cells"),
        },
        percent(outcome.mean_regret(judged)),
    );
    let hits = outcome.wanted.iter().filter(|verdict| verdict.is_hit).count();
    if !outcome.wanted.is_empty() {
        let _ = writeln!(
            text,
            "Of {} wanted figures it hits {hits} and misses {}.\n",
            outcome.wanted.len(),
            outcome.wanted.len() - hits
        );
    }
    let fewer = match outcome.seeds < outcome.seeds_of_file {
        true => format!(
            " The file asks for {}: these results have fewer, so a figure near its bound may be \
             hit or missed by chance.",
            outcome.seeds_of_file
        ),
        false => String::new(),
    };
    let spread = outcome.spread(judged).map_or_else(String::new, |(least, most)| {
        format!(
            " By single seeds, the mean regret of `{judged}` is {} to {} %.",
            percent(least),
            percent(most)
        )
    });
    let form = if outcome.is_quick { "the quick form, " } else { "" };
    let _ = writeln!(text, "Results of {form}{}.{spread}{fewer}\n", seeds(outcome));
}

fn wanted(text: &mut String, outcome: &Outcome) {
    if outcome.wanted.is_empty() {
        return;
    }
    let _ = writeln!(text, "## The wanted figures\n");
    text.push_str(
        "Each is the worst of the cells that count for it, which name it in `counts_for` of \
         `arena.toml`. Some cells have more seeds for the judged scheme than for the others \
         (`judged_seeds`), which count for the largest distance from max-min alone.\n\n\
         | figure | cells | wanted | found | cell | |\n|:---|---:|---:|---:|:---|:---|\n",
    );
    for verdict in &outcome.wanted {
        let cell = verdict.cell.as_ref().map_or_else(String::new, |cell| format!("`{cell}`"));
        let word = if verdict.is_hit { "hit" } else { "**missed**" };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {cell} | {word} |",
            verdict.what, verdict.cells, verdict.bound, verdict.shown
        );
    }
    text.push('\n');
}

fn ranking(text: &mut String, outcome: &Outcome) {
    let _ = writeln!(text, "## The schemes\n");
    text.push_str(
        "| scheme | mean regret % | worst regret % | worst cell | cells won | on the front |\n\
         |:---|---:|---:|:---|---:|---:|\n",
    );
    for scheme in outcome.ranking() {
        let (cell, worst) = outcome
            .worst(scheme)
            .map_or_else(Default::default, |(cell, regret)| (cell.cell.clone(), regret));
        let won = outcome.regrets(scheme).iter().filter(|(_, regret)| *regret == 0.0).count();
        let front = outcome.cells.iter().filter(|cell| cell.front().contains(&scheme)).count();
        let mean = percent(outcome.mean_regret(scheme));
        let name = marked(scheme, outcome);
        let _ =
            writeln!(text, "| {name} | {mean} | {} | `{cell}` | {won} | {front} |", percent(worst));
    }
    text.push('\n');
}

fn marked(scheme: &str, outcome: &Outcome) -> String {
    if scheme == outcome.judged { format!("**`{scheme}`**") } else { format!("`{scheme}`") }
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), percent)
}

/// A measure of an entry as it is shown, empty if it is not taken in the cell.
fn shown(term: Term, cell: &CellOutcome, entry: &Entry) -> String {
    if !cell.measures.contains(&term) {
        return String::new();
    }
    match term {
        Term::Share => share(entry.mean.share),
        Term::MaxMin => share(entry.mean.unfair),
        Term::Delay => {
            let [mean, high] = [entry.mean.delay_mean_ms, entry.mean.delay_p99_ms]
                .map(|value| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}")));
            format!("{mean}, {high}")
        }
        Term::Ramp => match entry.mean.ramp_s {
            Some(taken) if entry.arrived == entry.scores.len() => format!("{taken:.2}"),
            Some(taken) => format!("{taken:.2} ({} of {})", entry.arrived, entry.scores.len()),
            None => "never".to_owned(),
        },
        Term::Short => {
            entry.mean.slowdown.map_or_else(|| "-".to_owned(), |times| format!("{times:.2}"))
        }
        Term::Vain => share(entry.mean.vain),
    }
}

fn judged(text: &mut String, outcome: &Outcome) {
    let judged = &outcome.judged;
    let _ = writeln!(
        text,
        "## `{judged}` in each cell\n\nShare of the optimum, distance from max-min and Data in \
         vain in %; queueing delay, mean and 99th percentile, in ms; time to fair share in s; \
         completion of short flows, less a round trip, in ideal times. Empty: not taken in this \
         cell. The optimum is in Mbit/s of content.\n"
    );
    text.push_str(
        "| cell | network | optimum | share | max-min | delay | ramp | short | vain | score | \
         best scheme | regret % |\n\
         |:---|:---|---:|---:|---:|---:|---:|---:|---:|---:|:---|---:|\n",
    );
    for cell in &outcome.cells {
        let Some(entry) = cell.of(judged) else { continue };
        let best = cell.entries.iter().find(|entry| entry.regret == 0.0);
        let best =
            best.map_or_else(String::new, |best| format!("`{}` {:.3}", best.scheme, best.score()));
        let optimum = match cell.measures.contains(&Term::Share) {
            true => report_number(cell.limits.optimum_mbps),
            false => String::new(),
        };
        let values = Term::ALL.map(|term| shown(term, cell, entry));
        let _ = writeln!(
            text,
            "| `{}` | {} | {optimum} | {} | {:.3} | {best} | {} |",
            cell.cell,
            cell.title,
            values.join(" | "),
            entry.score(),
            percent(entry.regret)
        );
    }
    text.push('\n');
}

/// Three significant digits.
fn report_number(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

fn regrets(text: &mut String, outcome: &Outcome) {
    let _ = writeln!(
        text,
        "## All regrets\n\nIn % of the best score of the cell, a table for each group; 0 is the \
         best.\n"
    );
    let mut groups: Vec<&str> = Vec::new();
    for cell in &outcome.cells {
        if !groups.contains(&&*cell.group) {
            groups.push(&cell.group);
        }
    }
    let ranking = outcome.ranking();
    for group in groups {
        let cells: Vec<&CellOutcome> = outcome.cells.iter().filter(|c| c.group == group).collect();
        let heads: Vec<String> = cells.iter().map(|cell| format!("`{}`", cell.cell)).collect();
        let _ = writeln!(text, "### {group}\n\n| scheme | {} |", heads.join(" | "));
        let _ = writeln!(text, "|:---|{}", "---:|".repeat(cells.len()));
        for scheme in &ranking {
            let entries = cells.iter().map(|cell| cell.of(scheme));
            let row: Vec<String> = entries
                .map(|entry| entry.map_or_else(String::new, |entry| percent(entry.regret)))
                .collect();
            let _ = writeln!(text, "| {} | {} |", marked(scheme, outcome), row.join(" | "));
        }
        text.push('\n');
    }
}

fn failures(text: &mut String, outcome: &Outcome) {
    let mut all: Vec<String> = Vec::new();
    for cell in &outcome.cells {
        for entry in &cell.entries {
            for why in &entry.failures {
                all.push(format!("- `{}`, `{}`, {why}", cell.cell, entry.scheme));
            }
        }
    }
    if !all.is_empty() {
        let _ = writeln!(
            text,
            "## Failed runs\n\nThey count with a score of 0.\n\n{}\n",
            all.join("\n")
        );
    }
}

fn again(text: &mut String, outcome: &Outcome) {
    let effort = &outcome.effort;
    let each = effort.cpu_s / effort.runs.max(1) as f64;
    let whole = effort.cpu_s / outcome.seeds as f64 * outcome.seeds_of_file as f64;
    let quick = if outcome.is_quick { " --quick" } else { "" };
    let seeds = match outcome.seeds == outcome.seeds_of_file {
        true => String::new(),
        false => format!(" --seeds {}", outcome.seeds),
    };
    let _ = writeln!(
        text,
        "## To run it again\n\n```sh\nweir study scenarios/{}{quick}{seeds}\n```\n\nweir {}. {} \
         runs with {:.0} simulated seconds and {:.0} million packets over links took {:.0} s of \
         processor time, {each:.2} s on average: all {} seeds take at most {:.0} minutes on two \
         cores. Schemes that differ in a strategy alone are run once where there is one \
         path.\n\nThe networks are \
         [these scenarios](../../scenarios/{}); `--only CELL` runs one cell.",
        outcome.arena,
        outcome.version,
        effort.runs,
        effort.simulated_s,
        effort.packet_hops as f64 / 1e6,
        effort.cpu_s,
        outcome.seeds_of_file,
        whole / 60.0 / 2.0,
        outcome.arena,
    );
}
