//! One line that shows the progress of a transfer.

use control::{Duration, Rate, Size};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use scenario::result::digits;
use std::fmt::Write;

/// The number of columns below which a bar has no room beside the numbers.
const NARROW: usize = 80;
/// The most columns that the numbers take, with the space before them.
const NUMBERS: usize = 52;
const NARROW_NUMBERS: usize = 38;
/// The number of columns below which only a share or a size has room.
const NARROWEST: usize = 48;
/// The most columns of a share or a size, with the space before it.
const THERE: usize = 10;
/// The least columns of a bar, with its brackets and the space before it.
const BAR: usize = 13;

/// A progress bar on standard error; silent without a terminal, or on request.
pub struct Progress {
    bar: ProgressBar,
    width: usize,
    quiet: bool,
}

impl Progress {
    /// A bar with the name `what` of the work.
    pub fn new(what: &str, quiet: bool) -> Progress {
        let target = match quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(10),
        };
        let width = super::terminal::width(std::io::stderr()).unwrap_or(NARROW);
        let room = match width {
            ..NARROWEST => width.saturating_sub(THERE),
            NARROWEST..NARROW => width.saturating_sub(NARROW_NUMBERS),
            _ => width - NUMBERS - BAR,
        };
        let bar = ProgressBar::with_draw_target(None, target).with_message(shortened(what, room));
        bar.set_style(style(match width {
            ..NARROWEST => "{msg} {there}",
            _ => "{msg} {there}, {rate}",
        }));
        Progress { bar, width, quiet }
    }

    /// Lines above the bar of another part.
    pub fn of(bar: ProgressBar) -> Progress {
        Progress { bar, width: NARROW, quiet: false }
    }

    /// Shows work without an end, see [`Progress::sent`].
    pub fn begin_endless(&self) {
        self.bar.set_style(style(match self.width {
            ..NARROWEST => "{msg} {there}",
            _ => "{msg} {there}, {prefix}",
        }));
        self.sent(0, None);
    }

    /// Sets the number of bytes in all, and the number that is already present.
    pub fn begin(&self, total: Option<u64>, there: u64) {
        if let Some(total) = total {
            self.bar.set_length(total);
            self.bar.set_style(style(match self.width {
                ..NARROWEST => "{msg} {percent:>3} %",
                NARROWEST..NARROW => "{msg} {percent:>3} %, {rate:>11}{left}",
                _ => "{msg} [{wide_bar}] {percent:>3} % of {size}, {rate:>11}{left}",
            }));
        }
        self.bar.set_position(there);
        // Earlier bytes are no part of the rate.
        self.bar.reset_eta();
    }

    /// Sets the number of present bytes.
    pub fn at(&self, bytes: u64) {
        self.bar.set_position(bytes);
    }

    /// Shows the bytes sent so far and the current rate of a service without an end; `None` while
    /// nothing is sent.
    pub fn sent(&self, bytes: u64, rate: Option<Rate>) {
        self.bar.set_prefix(rate.map_or_else(|| "idle".to_owned(), |rate| rate.to_string()));
        self.bar.set_position(bytes);
    }

    /// Prints a line above the bar, which stays whole.
    pub fn above(&self, text: &str) {
        self.bar.suspend(|| super::note::note(text));
    }

    /// The same, unless only errors are wanted.
    pub fn warn(&self, text: &str) {
        if !self.quiet {
            self.above(text);
        }
    }

    /// Takes the bar away.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}

/// A bar for the simulated time of several runs, on standard error; silent without a terminal, or
/// on request.
pub struct RunProgress {
    bar: ProgressBar,
    total: f64,
    /// Only a share and the remaining time have room.
    is_narrow: bool,
    /// Simulated nanoseconds and events by run.
    runs: Vec<(u64, u64)>,
}

/// The maximum number of columns behind the name of a run.
const RUN_NUMBERS: usize = 47;
/// The same below [`NARROW_RUN`] columns.
const NARROW_RUN_NUMBERS: usize = 24;
/// Below this many columns the name of a run would have no room beside all numbers.
const NARROW_RUN: usize = 56;
/// Before this share is done, the remaining time is unknown.
const KNOWN: f64 = 0.005;

impl RunProgress {
    /// A bar for `what`: runs with these simulated times, in nanoseconds.
    pub fn new(what: &str, runs: impl Iterator<Item = u64>, quiet: bool) -> RunProgress {
        let (mut total, mut count) = (0u64, 0);
        for run in runs {
            (total, count) = (total.saturating_add(run), count + 1);
        }
        let target = match quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(10),
        };
        let width = super::terminal::width(std::io::stderr()).unwrap_or(NARROW);
        let bar_width = if width < NARROW { 0 } else { BAR };
        let is_narrow = width < NARROW_RUN;
        let numbers = if is_narrow { NARROW_RUN_NUMBERS } else { RUN_NUMBERS };
        let what = shortened(what, width.saturating_sub(numbers + bar_width));
        let bar = ProgressBar::with_draw_target(Some(total), target).with_message(what);
        bar.set_style(style(match width {
            ..NARROW => "{msg} {prefix}",
            _ => "{msg} [{wide_bar}] {prefix}",
        }));
        RunProgress { bar, total: total as f64 / 1e9, is_narrow, runs: vec![(0, 0); count] }
    }

    /// Shows the progress of a run: its simulated time in nanoseconds, and its events until then.
    /// `seconds` is the real time of all runs.
    pub fn at(&mut self, run: usize, now: u64, events: u64, seconds: f64) {
        self.runs[run] = (now, events);
        let simulated = self.runs.iter().fold(0_u64, |sum, (now, _)| sum.saturating_add(*now));
        let events: u64 = self.runs.iter().map(|(_, events)| events).sum();
        let text = self.text(simulated as f64 / 1e9, events as f64 / seconds.max(1e-9), seconds);
        self.bar.set_prefix(text);
        self.bar.set_position(simulated);
    }

    /// The number of hashed bytes of an object, before simulated time goes on.
    pub fn hashing(&self, object: &str, done: u64, size: u64) {
        let share = 100.0 * done as f64 / size.max(1) as f64;
        let numbers = if self.is_narrow { NARROW_RUN_NUMBERS } else { RUN_NUMBERS };
        self.bar.set_prefix(format!("hashing {}: {share:.0} %", shortened(object, numbers - 16)));
    }

    fn text(&self, now: f64, events: f64, seconds: f64) -> String {
        let share = now / self.total.max(1e-9);
        let events = match events {
            e if e >= 999_500.0 => format!("{:.2} M", e / 1e6),
            e => format!("{:.0} k", e / 1e3),
        };
        let left = match share {
            s if s >= KNOWN => {
                let left = seconds * (1.0 - share).max(0.0) / share;
                format!(", {} left", whole_seconds(std::time::Duration::from_secs_f64(left)))
            }
            _ => String::new(),
        };
        if self.is_narrow {
            return format!("{:.0} %{left}", share * 100.0);
        }
        let (now, total) = (digits(now), digits(self.total));
        format!("{now} of {total} s, {events} events/s{left}")
    }

    /// Takes the bar away.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}

pub(super) fn style(template: &str) -> ProgressStyle {
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
            // Without packets the remaining time is unknown.
            if state.per_sec() >= 1.0 {
                let _ = write!(out, ", {} left", whole_seconds(state.eta()));
            }
        })
}

/// The text itself if it fits into `room` columns; else its beginning and, because names differ at
/// their ends, more of its end. Text of peers and of others' files may be in it: control characters
/// are escaped.
pub(super) fn shortened(text: &str, room: usize) -> String {
    let text = net::text::visible(text);
    let letters: Vec<char> = text.chars().collect();
    let room = room.max(2);
    if letters.len() <= room {
        return text;
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
    fn a_run_shows_its_progress() {
        let run = RunProgress::new("x", [20_000_000_000, 40_000_000_000].into_iter(), true);
        assert_eq!(run.text(0.1, 812_400.0, 1.0), "0.100 of 60.0 s, 812 k events/s");
        // A quarter is done in 40 s: three quarters take 120 s.
        assert_eq!(
            run.text(15.0, 1_234_000.0, 40.0),
            "15.0 of 60.0 s, 1.23 M events/s, 2 min 00 s left"
        );
        let longest = run.text(59_999.0, 999_000.0, 86_399.0);
        assert!(longest.len() <= RUN_NUMBERS, "{longest}");
        let narrow = RunProgress { is_narrow: true, ..run };
        assert_eq!(narrow.text(15.0, 1_234_000.0, 40.0), "25 %, 2 min 00 s left");
        let longest = narrow.text(59.9, 999_000.0, 86_399_000.0);
        assert!(longest.len() <= NARROW_RUN_NUMBERS, "{longest}");
    }

    #[test]
    fn a_long_name_keeps_its_end() {
        assert_eq!(shortened("/a/b", 4), "/a/b");
        assert_eq!(shortened("\u{1b}[31m\u{7}", 20), "\\u{1b}[31m\\u{7}");
        assert_eq!(shortened("/example/report.pdf", 10), "/ex…rt.pdf");
        assert_eq!(shortened("/example", 0), "…e");
    }
}
