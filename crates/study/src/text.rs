//! Results as text and numbers, the same in the terminal and on pages.

use crate::claim::ClaimKind;
use crate::outcome::{ClaimResult, Effort, Measured, Outcome, Published};
use scenario::result::digits;

/// The cells of a claim in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// `39.9 Mbit/s`, or an order as written.
    pub published: String,
    /// `39.5 ± 0.1`, or a value for each term.
    pub measured: String,
    /// `2.33`, or a share.
    pub tolerance: String,
}

impl ClaimResult {
    /// Its cells in a table.
    #[must_use]
    pub fn cells(&self) -> Cells {
        let unit = self.unit.as_deref().unwrap_or_default();
        let published = match &self.published {
            Published::Number(value) => format!("{value} {unit}"),
            Published::Order(text) => {
                let words = text.split_whitespace().collect::<Vec<_>>();
                words.join(" ").replace(['{', '}'], "")
            }
        };
        let tolerance = match (self.tolerance, &self.published) {
            (None, _) => String::new(),
            (Some(allowed), Published::Number(_)) => digits(allowed),
            (Some(share), Published::Order(_)) => format!("{} %", digits(share * 100.0)),
        };
        Cells { published, measured: self.measured(), tolerance }
    }

    fn measured(&self) -> String {
        match (&self.measured, &self.ci95) {
            (Measured::One(Some(value)), Measured::One(Some(half))) if *half > 0.0 => {
                format!("{} ± {}", digits(*value), digits(*half))
            }
            (Measured::One(value), _) => shown(*value),
            (Measured::Terms(terms), _) => {
                let signs = match &self.published {
                    Published::Order(text) => text.chars().filter(|c| "<>~".contains(*c)).collect(),
                    Published::Number(_) => String::new(),
                };
                let mut signs = signs.chars();
                let mut text = String::new();
                for term in terms {
                    text += &shown(*term);
                    if let Some(sign) = signs.next() {
                        text += &format!(" {sign} ");
                    }
                }
                text
            }
        }
    }

    /// One word, or two, about the result.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match (self.verdict.holds, self.verdict.judged) {
            (_, false) => "not judged",
            (true, true) => "holds",
            _ if self.verdict.explained => "no, explained",
            _ if self.verdict.off => "no, off",
            _ => "NO",
        }
    }
}

/// The numbers of claims of a kind by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// They were judged.
    pub judged: usize,
    /// They hold.
    pub hold: usize,
    /// They do not, and an experiment shows why.
    pub explained: usize,
    /// They do not, as known.
    pub off: usize,
    /// They do not, without an explanation.
    pub open: usize,
}

impl Count {
    /// The numbers as text. `one` and `more` are the words for one claim and for several.
    fn sentence(self, one: &str, more: &str) -> String {
        let mut text = verb(self.judged, one, more) + ": ";
        text += &verb(self.hold, "holds", "hold");
        for (n, one, more) in [
            (self.explained, "does not and is explained", "do not and are explained"),
            (self.off, "is off", "are off"),
            (self.open, "does not and is not explained", "do not and are not explained"),
        ] {
            if n > 0 {
                text += ", ";
                text += &verb(n, one, more);
            }
        }
        text
    }
}

fn verb(n: usize, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), digits)
}

impl Outcome {
    /// Counts the judged claims of a kind by outcome.
    #[must_use]
    pub fn count(&self, kind: ClaimKind) -> Count {
        let mut count = Count::default();
        for claim in self.claims.iter().filter(|claim| claim.kind == kind && claim.verdict.judged) {
            count.judged += 1;
            count.hold += usize::from(claim.verdict.holds);
            count.explained += usize::from(claim.verdict.explained);
            count.off += usize::from(claim.verdict.off);
            count.open += usize::from(claim.is_open());
        }
        count
    }

    /// The number of claims that hold. Calibrated ones and own checks are counted separately.
    #[must_use]
    pub fn counted(&self) -> String {
        let mut text = self.count(ClaimKind::Published).sentence("claim", "claims");
        for (kind, one, more) in [
            (ClaimKind::Calibrated, "calibrated value", "calibrated values"),
            (ClaimKind::Check, "check of our own", "checks of our own"),
        ] {
            let count = self.count(kind);
            if count.judged > 0 {
                text += "; ";
                text += &count.sentence(one, more);
            }
        }
        let cut = self.claims.iter().filter(|claim| claim.was_cut()).count();
        let shown =
            self.claims.iter().filter(|claim| !claim.verdict.judged && !claim.was_cut()).count();
        if shown > 0 {
            text += "; ";
            text += &(verb(shown, "number is", "numbers are") + " only shown in the quick form");
        }
        if cut > 0 {
            text += "; ";
            text += &(verb(cut, "claim was", "claims were") + " not judged: interrupted");
        }
        text
    }

    /// The effort.
    #[must_use]
    pub fn effort(&self) -> String {
        let Effort { runs, simulated_s, packet_hops, run_s } = self.total();
        let (cores, alone) = match self.jobs {
            1 => ("one core".to_owned(), String::new()),
            n => (format!("{n} cores"), format!("; one after the other {} s", digits(run_s))),
        };
        let (hops, wall) = (digits(packet_hops as f64 / 1e6), digits(self.wall_s));
        format!(
            "{runs} runs, {simulated_s:.0} s simulated, {hops} million packet-hops in {wall} s on \
             {cores}{alone}"
        )
    }
}
