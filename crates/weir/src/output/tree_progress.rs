//! Bars of a transfer of many files: one for each large file under way, and one for all.

use super::Progress;
use super::progress::{shortened, style};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};
use net::text::visible;
use std::collections::BTreeMap;

/// The maximum number of bars for single files.
const BARS: usize = 4;
/// Files of fewer bytes are over before a bar can be read.
const LEAST: u64 = 1_000_000;
/// The number of columns below which a bar has no room beside the numbers.
const NARROW: usize = 80;
/// The columns of the numbers behind a name.
const NUMBERS: usize = 64;

/// The bars; silent without a terminal, or on request.
pub struct TreeProgress {
    multi: MultiProgress,
    all: ProgressBar,
    files: BTreeMap<u64, ProgressBar>,
    width: usize,
}

/// A file under way.
pub struct Moving<'a> {
    /// Its number.
    pub number: u64,
    /// Its path.
    pub path: &'a str,
    /// Its size in bytes.
    pub size: u64,
    /// The present bytes.
    pub there: u64,
}

impl TreeProgress {
    /// A bar for the tree `name`.
    pub fn new(name: &str, quiet: bool) -> TreeProgress {
        let target = match quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(10),
        };
        let multi = MultiProgress::with_draw_target(target);
        let width = super::terminal::width(std::io::stderr()).unwrap_or(NARROW);
        let all = multi.add(ProgressBar::new(0));
        let room = if width < NARROW { width.saturating_sub(6) } else { width - NUMBERS };
        all.set_message(shortened(name, room));
        all.set_style(style(match width {
            ..NARROW => "{msg} {percent:>3} %",
            _ => "{msg} [{wide_bar}] {percent:>3} % of {size}, {rate:>11}{left}{prefix}",
        }));
        TreeProgress { multi, all, files: BTreeMap::new(), width }
    }

    /// Sets the bytes of all files, the present bytes, and the number of files.
    pub fn at(&mut self, total: u64, there: u64, files: u64) {
        self.all.set_length(total);
        self.all.set_position(there);
        self.all.set_prefix(format!(", {}", super::counted(files, "file")));
    }

    /// The files under way.
    pub fn moving<'a>(&mut self, files: impl Iterator<Item = Moving<'a>>) {
        let shown: Vec<_> = files.filter(|file| file.size >= LEAST).take(BARS).collect();
        self.files.retain(|number, bar| {
            let stays = shown.iter().any(|file| file.number == *number);
            if !stays {
                bar.finish_and_clear();
                self.multi.remove(bar);
            }
            stays
        });
        for file in &shown {
            let bar = self.files.entry(file.number).or_insert_with(|| {
                let bar = self.multi.insert_before(&self.all, ProgressBar::new(file.size));
                let room = if self.width < NARROW { self.width.saturating_sub(8) } else { 40 };
                bar.set_message(shortened(&visible(file.path), room));
                bar.set_style(style(match self.width {
                    ..NARROW => "  {msg} {percent:>3} %",
                    _ => "  {msg} [{wide_bar}] {percent:>3} % of {size}",
                }));
                bar
            });
            bar.set_position(file.there);
        }
    }

    /// Prints a line above the bars.
    pub fn above(&self, text: &str) {
        self.multi.suspend(|| super::note::note(text));
    }

    /// Takes the bars away.
    pub fn end(self) {
        for bar in self.files.values() {
            bar.finish_and_clear();
        }
        self.all.finish_and_clear();
    }

    /// The overall bar, for messages about the connection.
    pub fn lines(&self) -> Progress {
        Progress::of(self.all.clone())
    }
}
