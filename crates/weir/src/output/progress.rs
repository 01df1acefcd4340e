//! One line that says how far a transfer is.

use control::{Duration, Rate, Size};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;

/// Below this many columns there is no room for a bar beside the numbers.
const NARROW: usize = 80;
/// The most columns that the numbers take, with the space before them.
const NUMBERS: usize = 52;
const NARROW_NUMBERS: usize = 38;
/// The least columns of a bar, with its brackets and the space before it.
const BAR: usize = 13;

/// A progress bar on standard error; silent where that is no terminal, or if told to be.
pub struct Progress {
    bar: ProgressBar,
    width: usize,
}

impl Progress {
    /// A bar that says `what` is going on.
    pub fn new(what: &str, quiet: bool) -> Progress {
        let target = match quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(10),
        };
        let width = super::width(std::io::stderr()).unwrap_or(NARROW);
        let room = match width {
            ..NARROW => width.saturating_sub(NARROW_NUMBERS),
            _ => width - NUMBERS - BAR,
        };
        let bar = ProgressBar::with_draw_target(None, target).with_message(shortened(what, room));
        bar.set_style(style("{msg} {there}, {rate}"));
        Progress { bar, width }
    }

    /// Shows what has no end, see [`Progress::sent`].
    pub fn begin_endless(&self) {
        self.bar.set_style(style("{msg} {there}, {prefix}"));
        self.sent(0, None);
    }

    /// How many octets there are in all, and how many are there already.
    pub fn begin(&self, total: Option<u64>, there: u64) {
        if let Some(total) = total {
            self.bar.set_length(total);
            self.bar.set_style(style(match self.width {
                ..NARROW => "{msg} {percent:>3} %, {rate:>11}, {left} left",
                _ => "{msg} [{wide_bar}] {percent:>3} % of {size}, {rate:>11}, {left} left",
            }));
        }
        self.bar.set_position(there);
        // What was there before is no part of the rate.
        self.bar.reset_eta();
    }

    /// Octets that are there now.
    pub fn at(&self, octets: u64) {
        self.bar.set_position(octets);
    }

    /// Octets that were sent so far, and how fast they go now, of what has no end; `None` while
    /// nothing goes.
    pub fn sent(&self, octets: u64, rate: Option<Rate>) {
        self.bar.set_prefix(rate.map_or_else(|| "idle".to_owned(), |rate| rate.to_string()));
        self.bar.set_position(octets);
    }

    /// Prints a line about what is going on above the bar, which stays whole.
    pub fn above(&self, text: &str) {
        self.bar.suspend(|| super::note(text));
    }

    /// Takes the bar away.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}

/// A bar for simulated time, on standard error; silent where that is no terminal, or if told to be.
pub struct RunProgress {
    bar: ProgressBar,
}

impl RunProgress {
    /// A bar for `what`, which takes `total` simulated nanoseconds.
    pub fn new(what: &str, total: u64, quiet: bool) -> RunProgress {
        let target = match quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(10),
        };
        let width = super::width(std::io::stderr()).unwrap_or(NARROW);
        let what = shortened(what, width.saturating_sub(NUMBERS + BAR));
        let bar = ProgressBar::with_draw_target(Some(total), target).with_message(what);
        bar.set_style(style(match width {
            ..NARROW => "{msg} {simulated}, {prefix}, {left} left",
            _ => "{msg} [{wide_bar}] {simulated} simulated, {prefix}, {left} left",
        }));
        RunProgress { bar }
    }

    /// Simulated nanoseconds that have passed, and events in a second.
    pub fn at(&self, simulated: u64, events: f64) {
        self.bar.set_prefix(format!("{:.2} M events/s", events / 1e6));
        self.bar.set_position(simulated);
    }

    /// Takes the bar away.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
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
        .with_key("simulated", |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", Duration(state.pos()));
        })
        .with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", Rate((state.per_sec() * 8.0) as u64));
        })
        .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", whole_seconds(state.eta()));
        })
}

/// The text itself if it fits into `room` columns; else its beginning and, because names differ at
/// their ends, more of its end.
fn shortened(text: &str, room: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    let room = room.max(2);
    if letters.len() <= room {
        return text.to_owned();
    }
    let first = (room - 1) / 3;
    let last = letters.len() - (room - 1 - first);
    letters[..first].iter().chain(&['…']).chain(&letters[last..]).collect()
}

fn whole_seconds(span: std::time::Duration) -> String {
    match span.as_secs() {
        s if s >= 3600 => format!("{} h {:02} min", s / 3600, s % 3600 / 60),
        s if s >= 60 => format!("{} min {:02} s", s / 60, s % 60),
        0 => Duration(span.subsec_nanos().into()).to_string(),
        s => format!("{s} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_end() {
        assert_eq!(shortened("/a/b", 4), "/a/b");
        assert_eq!(shortened("/example/report.pdf", 10), "/ex…rt.pdf");
        assert_eq!(shortened("/example", 0), "…e");
    }
}
