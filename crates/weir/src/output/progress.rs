//! One line that says how far a transfer is.

use control::{Duration, Rate, Size};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;

/// A progress bar on standard error; silent where that is no terminal, or if told to be.
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar that says `what` is going on.
    pub fn new(what: &str, quiet: bool) -> Progress {
        let target = match quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(10),
        };
        let bar = ProgressBar::with_draw_target(None, target).with_message(what.to_owned());
        bar.set_style(unknown_size());
        Progress(bar)
    }

    /// How many octets there are in all, and how many are there already.
    pub fn begin(&self, total: Option<u64>, there: u64) {
        if let Some(total) = total {
            self.0.set_length(total);
            self.0.set_style(known_size());
        }
        self.0.set_position(there);
        // What was there before is no part of the rate.
        self.0.reset_eta();
    }

    /// Octets that are there now.
    pub fn at(&self, octets: u64) {
        self.0.set_position(octets);
    }

    /// Takes the bar away.
    pub fn end(self) {
        self.0.finish_and_clear();
    }
}

fn known_size() -> ProgressStyle {
    style("{msg} [{bar:20}] {percent:>3} % of {size}, {rate}, {left} left")
}

fn unknown_size() -> ProgressStyle {
    style("{msg} {there}, {rate}")
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    style
        .progress_chars("=> ")
        .with_key("size", |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", Size(state.len().unwrap_or(0)));
        })
        .with_key("there", |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", Size(state.pos()));
        })
        .with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", Rate((state.per_sec() * 8.0) as u64));
        })
        .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", whole_seconds(state.eta()));
        })
}

fn whole_seconds(span: std::time::Duration) -> String {
    match span.as_secs() {
        s if s >= 3600 => format!("{} h {:02} min", s / 3600, s % 3600 / 60),
        s if s >= 60 => format!("{} min {:02} s", s / 60, s % 60),
        0 => Duration(span.subsec_nanos().into()).to_string(),
        s => format!("{s} s"),
    }
}
