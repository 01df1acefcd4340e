//! The pages of studies: one text, for browsers and for readers of the repository.

use crate::claim::ClaimKind;
use crate::markdown::{cell, to_html};
use crate::model::{Experiment, ExperimentKind, Study};
use crate::outcome::{ClaimResult, Effort, ExperimentResult, Outcome, Published};
use crate::pictures::pictures;
use crate::read::slug;
use crate::testbed::{self, OnDaemons};
use crate::text::Count;
use report::picture::Picture;
use report::{article, figures};
use scenario::result::{averaged, digits};
use std::fmt::Write;

/// The page of a study.
pub struct Page {
    title: String,
    /// Markdown, with a place for each picture.
    text: String,
    readme: String,
    deviations: String,
    pictures: Vec<Picture>,
}

/// The mark for the text of the study's own files in a page for browsers.
const README: &str = "<!-- readme -->";
const DEVIATIONS: &str = "<!-- deviations -->";

impl Page {
    /// The page of a study with this outcome, and with its outcome on real daemons.
    #[must_use]
    pub fn new(study: &Study, outcome: &Outcome, daemons: Option<&OnDaemons>) -> Page {
        let mut page = Page {
            title: study.title.clone(),
            text: String::new(),
            readme: study.readme.clone(),
            deviations: study.deviations.clone(),
            pictures: Vec::new(),
        };
        let text = &mut page.text;
        let _ = writeln!(text, "{}\n\n{}\n", study.paper, study.finding);
        let _ = writeln!(text, "**{}.** {}.\n\n{README}\n", outcome.counted(), outcome.effort());
        for kind in [ExperimentKind::Paper, ExperimentKind::Beyond] {
            for (experiment, result) in of_kind(study, outcome, kind) {
                section(text, study, experiment, outcome, result, &mut page.pictures);
                text.push_str(&testbed::place(study, daemons, &experiment.name));
            }
        }
        let _ = writeln!(text, "{DEVIATIONS}\n");
        let sensitivities = of_kind(study, outcome, ExperimentKind::Sensitivity);
        if !sensitivities.is_empty() {
            let _ = writeln!(text, "## How much it matters what the paper leaves out\n");
        }
        for (experiment, result) in sensitivities {
            section(text, study, experiment, outcome, result, &mut page.pictures);
        }
        again(text, study, outcome);
        page
    }

    /// A self-contained HTML file.
    #[must_use]
    pub fn html(&self) -> String {
        let readme = body_of(&self.readme);
        let deviations = format!("## Open points of the paper\n\n{}", body_of(&self.deviations));
        let text = self.text.replace(README, &readme).replace(DEVIATIONS, &deviations);
        let body =
            format!("<p class=\"over\">Weir study</p>\n{}", to_html(&headed(&self.title, &text)));
        article(&self.title, &body, &self.pictures)
    }

    /// Markdown with its pictures in `pictures/` beside it; the folder of the study is at `folder`.
    #[must_use]
    pub fn markdown(&self, folder: &str) -> String {
        let readme = format!("[The paper's claims]({folder}/README.md)");
        let deviations = format!(
            "Open points of the paper, the choices, and the causes of differences: \
             [deviations.md]({folder}/deviations.md)."
        );
        let text = self.text.replace(README, &readme).replace(DEVIATIONS, &deviations);
        let text = text.replace("](#", &format!("]({folder}/deviations.md#"));
        let whole = figures(&headed(&self.title, &text), |id| {
            let picture = self.pictures.iter().find(|picture| picture.id == id)?;
            let Picture { title, caption, .. } = picture;
            Some(format!("![{title}](pictures/{id}.svg)\n\n<sub>{caption}</sub>"))
        });
        whole.trim_end().to_owned() + "\n"
    }
}

fn headed(title: &str, text: &str) -> String {
    format!("# {title}\n\n{text}")
}

/// A text without its first heading, every other one with its name in addresses.
fn body_of(markdown: &str) -> String {
    let mut out = String::new();
    let mut is_code = false;
    for line in markdown.lines().skip_while(|line| line.trim().is_empty() || line.starts_with("# "))
    {
        is_code ^= line.starts_with("```");
        match line.starts_with("##") && !is_code {
            // Below the heading of the page's own section.
            true => {
                let _ = writeln!(out, "#{line} {{#{}}}", slug(line.trim_start_matches('#')));
            }
            false => {
                let _ = writeln!(out, "{line}");
            }
        }
    }
    out
}

fn section(
    text: &mut String,
    study: &Study,
    experiment: &Experiment,
    outcome: &Outcome,
    result: &ExperimentResult,
    drawn: &mut Vec<Picture>,
) {
    let is_part = experiment.kind == ExperimentKind::Sensitivity;
    let _ = writeln!(text, "{} {}\n", if is_part { "###" } else { "##" }, experiment.texts.title);
    let place = match experiment.kind {
        ExperimentKind::Paper => format!("{}; ", experiment.texts.place),
        ExperimentKind::Beyond => "Not in the paper; ".to_owned(),
        ExperimentKind::Sensitivity => String::new(),
    };
    let mut runs = format!("{} runs of `{}`", result.runs, experiment.file);
    if result.is_one_run() {
        runs += ", alike for all seeds: nothing in it is random, and each case counts as one run";
    }
    let _ = writeln!(text, "{place}{runs}. {}\n", experiment.texts.question);
    if !experiment.texts.text.trim().is_empty() {
        let _ = writeln!(text, "{}\n", experiment.texts.text.trim());
    }
    let claims: Vec<&ClaimResult> =
        outcome.claims.iter().filter(|claim| claim.experiment == experiment.name).collect();
    for picture in pictures(study, experiment, result, &claims) {
        let _ = writeln!(text, "<!-- picture: {} -->\n", picture.id);
        drawn.push(picture);
    }
    table(text, &claims);
    if experiment.kind != ExperimentKind::Paper {
        values(text, experiment, result);
    }
    for failure in &result.failures {
        let _ = writeln!(text, "Failed: {}.\n", cell(failure));
    }
}

fn table(text: &mut String, claims: &[&ClaimResult]) {
    if claims.is_empty() {
        return;
    }
    text.push_str("| what | holds | published | measured | may differ | where |\n");
    text.push_str("|:---|:---|---:|---:|:---|:---|\n");
    for claim in claims {
        let cells = claim.cells();
        let verdict = match &claim.verdict.explanation {
            Some(heading) if claim.verdict.explained => format!("**no**, [explained](#{heading})"),
            Some(heading) if claim.verdict.off => format!("**no**, [off](#{heading})"),
            _ if claim.is_open() => "**no**".to_owned(),
            _ => claim.verdict().to_owned(),
        };
        let verdict = match claim.kind {
            ClaimKind::Published => verdict,
            ClaimKind::Check => verdict + " (own check)",
            ClaimKind::Calibrated => verdict + " (calibrated)",
        };
        let published = match claim.published {
            Published::Order(_) => format!("`{}`", cells.published.replace('|', "\\|")),
            Published::Number(_) => cells.published,
        };
        let why = match (cells.tolerance.as_str(), claim.reason.as_str()) {
            ("", _) => String::new(),
            (allowed, "") => format!("± {allowed}"),
            (allowed, reason) => format!("± {allowed}: {}", cell(reason)),
        };
        let (what, place) = (cell(&claim.what), cell(&claim.place));
        let measured = match &claim.failure {
            Some(failure) => format!("{} ({failure})", cell(&cells.measured)),
            None => cell(&cells.measured),
        };
        let _ =
            writeln!(text, "| {what} | {verdict} | {published} | {measured} | {why} | {place} |");
    }
    text.push('\n');
}

/// The experiments of a kind, with their results.
fn of_kind<'a>(
    study: &'a Study,
    outcome: &'a Outcome,
    kind: ExperimentKind,
) -> Vec<(&'a Experiment, &'a ExperimentResult)> {
    let both = study.experiments.iter().zip(&outcome.experiments);
    both.filter(|(experiment, _)| experiment.kind == kind).collect()
}

/// A row for each case, a column for each measure.
fn values(text: &mut String, experiment: &Experiment, result: &ExperimentResult) {
    let is_one = result.is_one_run();
    let names: Vec<&str> = experiment.measures.iter().map(|m| m.name.as_str()).collect();
    let _ = writeln!(text, "| case | {} |", names.join(" | "));
    let _ = writeln!(text, "|:---|{}", "---:|".repeat(names.len()));
    for case in &experiment.cases {
        let mut row = Vec::new();
        for name in &names {
            let found = result.values.iter().find(|v| v.measure == *name && v.case == case.name);
            let mut mean = found.and_then(|found| found.mean);
            // One run has no interval.
            if is_one && let Some(mean) = &mut mean {
                mean.ci95 = None;
            }
            row.push(averaged(mean, |mean| digits(mean.mean)));
        }
        let _ = writeln!(text, "| {} | {} |", cell(experiment.label(&case.name)), row.join(" | "));
    }
    text.push('\n');
}

fn again(text: &mut String, study: &Study, outcome: &Outcome) {
    let quick = if outcome.quick { " --quick" } else { "" };
    let one_run = outcome.experiments.iter().filter(|one| one.is_one_run()).count();
    let alike = match one_run {
        0 => String::new(),
        one_run => format!(
            " In {one_run} of {} experiments all seeds are alike: what stands there is one \
             deterministic run, without an interval.",
            outcome.experiments.len()
        ),
    };
    let _ = writeln!(
        text,
        "## To run it again\n\n```sh\nweir study scenarios/{}{quick}\n```\n\nweir {}. Means with \
         95 % confidence intervals over the seeds, by Student's t; an order holds if the \
         differences of its terms in runs with equal seeds have their sign with that confidence.\
         {alike}\n",
        study.name, outcome.version
    );
    text.push_str("| experiment | runs | simulated (s) | million packet-hops | run time (s) |\n");
    text.push_str("|:---|---:|---:|---:|---:|\n");
    for one in &outcome.experiments {
        let hops = digits(one.packet_hops as f64 / 1e6);
        let (simulated, run) = (digits(one.simulated_s), digits(one.run_s));
        let name = &one.experiment;
        let _ = writeln!(text, "| {name} | {} | {simulated} | {hops} | {run} |", one.runs);
    }
    text.push('\n');
}

/// The index page of several studies, as Markdown with this ending of links, with more text behind
/// its tables.
#[must_use]
pub fn index(studies: &[Outcome], ending: &str, more: &str) -> String {
    let mut text = "# Studies\n\nPublished experiments, run again: what papers report beside \
                    what is measured here.\n\n\
                    | study | paper | claims | hold | explained | off | open | calibrated | \
                    own checks |\n\
                    |:---|:---|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for outcome in studies {
        let Count { judged, hold, explained, off, open } = outcome.count(ClaimKind::Published);
        let [calibrated, checks] = [ClaimKind::Calibrated, ClaimKind::Check].map(|kind| {
            let Count { judged, hold, .. } = outcome.count(kind);
            if hold == judged { hold.to_string() } else { format!("{hold} of {judged}") }
        });
        let _ = writeln!(
            text,
            "| [{}]({}.{ending}){} | {} | {judged} | {hold} | {explained} | {off} | {open} | \
             {calibrated} | {checks} |",
            cell(&outcome.title),
            outcome.study,
            if outcome.quick { ", quick form" } else { "" },
            cell(&outcome.paper),
        );
    }
    text += "\nA claim that does not hold is explained where an experiment shows the cause; off \
             where the study's deviations.md says what else is known; or open. Calibrated are \
             numbers for which a value was chosen that the paper leaves out.\n\n";
    efforts(&mut text, studies);
    text += more;
    text += "\n## To run all that Weir has\n\n```sh\nweir study --all\n```\n";
    text
}

/// The effort of each of them: single durations, and the duration as run.
fn efforts(text: &mut String, studies: &[Outcome]) {
    text.push_str(
        "| study | runs | simulated (s) | million packet-hops | one run after the other (s) | \
         as run (s) | at a time |\n|:---|---:|---:|---:|---:|---:|---:|\n",
    );
    for outcome in studies {
        let Effort { runs, simulated_s, packet_hops, run_s } = outcome.total();
        let (hops, wall) = (digits(packet_hops as f64 / 1e6), digits(outcome.wall_s));
        let (simulated, alone) = (digits(simulated_s), digits(run_s));
        let (title, jobs) = (cell(&outcome.title), outcome.jobs);
        let _ = writeln!(
            text,
            "| {title} | {runs} | {simulated} | {hops} | {alone} | {wall} | {jobs} |"
        );
    }
    let alone: f64 = studies.iter().map(|outcome| outcome.total().run_s).sum();
    let wall: f64 = studies.iter().map(|outcome| outcome.wall_s).sum();
    let _ = writeln!(text, "| all | | | | {} | {} | |", digits(alone), digits(wall));
}

/// [`index`] as one HTML file.
#[must_use]
pub fn index_html(studies: &[Outcome], more: &str) -> String {
    article("Studies", &to_html(&index(studies, "html", more)), &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_stand_alone() {
        let html = to_html("a [file](../x.md), [here](#y), [far](https://e.org), ![p](p.svg)\n");
        assert!(html.contains("a file,"), "{html}");
        assert!(html.contains("<a href=\"#y\">here</a>"), "{html}");
        assert!(html.contains("<a href=\"https://e.org\">"), "{html}");
        assert!(!html.contains("p.svg"), "{html}");
    }

    #[test]
    fn headings_can_be_led_to() {
        let body = body_of("# Deviations\n\ntext\n\n## The delay of A\n```\n## no heading\n```\n");
        assert_eq!(body, "text\n\n### The delay of A {#the-delay-of-a}\n```\n## no heading\n```\n");
        assert!(to_html(&body).contains("<h3 id=\"the-delay-of-a\">"), "{}", to_html(&body));
    }
}
