//! What is found, in words and numbers for people: the same in the terminal and on pages.

use crate::outcome::{ClaimResult, Effort, Measured, Outcome, Published};
use scenario::result::digits;

/// The cells of a claim in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// `39.9 Mbit/s`, or an order as it was written.
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
        let shown = |value: &Option<f64>, half: Option<f64>| match (value, half) {
            (None, _) => "-".to_owned(),
            (Some(value), Some(half)) if half > 0.0 => {
                format!("{} ± {}", digits(*value), digits(half))
            }
            (Some(value), _) => digits(*value),
        };
        match (&self.measured, &self.ci95) {
            (Measured::One(value), Measured::One(half)) => shown(value, *half),
            (Measured::One(value), Measured::Terms(_)) => shown(value, None),
            (Measured::Terms(terms), _) => {
                let signs = match &self.published {
                    Published::Order(text) => text.chars().filter(|c| "<>~".contains(*c)).collect(),
                    Published::Number(_) => String::new(),
                };
                let mut signs = signs.chars();
                let mut text = String::new();
                for term in terms {
                    text += &shown(term, None);
                    if let Some(sign) = signs.next() {
                        text += &format!(" {sign} ");
                    }
                }
                text
            }
        }
    }

    /// One word, or two, on whether it holds.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match (self.holds, self.judged, self.explained) {
            (true, true, _) => "holds",
            (_, false, _) => "not judged",
            (false, true, true) => "no, explained",
            (false, true, false) => "NO",
        }
    }
}

impl Outcome {
    /// How many claims hold.
    #[must_use]
    pub fn counted(&self) -> String {
        let count = |is: fn(&ClaimResult) -> bool| self.claims.iter().filter(|c| is(c)).count();
        let judged = count(|claim| claim.judged);
        let hold = count(|claim| claim.judged && claim.holds);
        let explained = count(|claim| claim.explained);
        let open = count(ClaimResult::is_open);
        let verb =
            |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
        let mut text = verb(judged, "claim", "claims") + ": " + &verb(hold, "holds", "hold");
        if explained > 0 {
            text += ", ";
            text += &verb(explained, "does not and is explained", "do not and are explained");
        }
        if open > 0 {
            text += ", ";
            text += &verb(open, "does not and is not explained", "do not and are not explained");
        }
        let cut = count(ClaimResult::was_cut);
        if self.claims.len() > judged + cut {
            text += "; ";
            let shown = verb(self.claims.len() - judged - cut, "number is", "numbers are");
            text += &(shown + " only shown in the quick form");
        }
        if cut > 0 {
            text += "; ";
            text += &(verb(cut, "claim was", "claims were") + " not judged: interrupted");
        }
        text
    }

    /// What it took.
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
