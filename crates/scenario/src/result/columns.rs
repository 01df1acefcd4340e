//! The columns of result tables: one list for the terminal and for pages.

pub use super::number::digits;

use super::combination::Combination;
use super::{Flow, Link, Node, NodeHits, Workload};
use crate::statistics::Mean;

/// A column.
#[derive(Clone, Copy)]
pub struct Column<T: 'static> {
    /// Its head, with the unit, where there is little room.
    pub short: &'static str,
    /// Its head on a page.
    pub long: &'static str,
    /// In a narrow terminal columns of a higher rank go first, those of rank 0 never; those without
    /// one are on pages alone.
    pub rank: Option<u8>,
    /// The field of the record that it shows; nothing for words.
    pub field: &'static str,
    /// From the field's unit to the column's.
    pub factor: f64,
    shows: Shows<T>,
}

/// The value that a column shows of a record.
#[derive(Clone, Copy)]
enum Shows<T: 'static> {
    Word(fn(&T) -> String),
    Number(fn(&T) -> Option<f64>),
    Count(fn(&T) -> u64),
    Mean(fn(&T) -> Option<Mean>),
    /// A mean of counts.
    MeanCount(fn(&T) -> Option<Mean>),
    /// A mean that is a lower bound where the second value says so.
    Bound(fn(&T) -> (Option<Mean>, bool)),
    /// How many of how many.
    Part(fn(&T) -> [u64; 2]),
}

const fn column<T>(
    field: &'static str,
    head: [&'static str; 2],
    rank: u8,
    shows: Shows<T>,
) -> Column<T> {
    let [short, long] = head;
    Column { short, long, rank: Some(rank), field, factor: 1.0, shows }
}

const fn word<T>(head: [&'static str; 2], rank: u8, get: fn(&T) -> String) -> Column<T> {
    column("", head, rank, Shows::Word(get))
}

const fn number<T>(
    field: &'static str,
    head: [&'static str; 2],
    rank: u8,
    get: fn(&T) -> Option<f64>,
) -> Column<T> {
    column(field, head, rank, Shows::Number(get))
}

const fn count<T>(
    field: &'static str,
    head: [&'static str; 2],
    rank: u8,
    get: fn(&T) -> u64,
) -> Column<T> {
    column(field, head, rank, Shows::Count(get))
}

/// On pages alone.
const fn paged<T>(mut column: Column<T>) -> Column<T> {
    column.rank = None;
    column
}

/// In another unit.
const fn times<T>(factor: f64, mut column: Column<T>) -> Column<T> {
    column.factor = factor;
    column
}

impl<T> Column<T> {
    /// It holds words and no numbers.
    #[must_use]
    pub const fn is_word(&self) -> bool {
        matches!(self.shows, Shows::Word(_))
    }

    /// Its text.
    #[must_use]
    pub fn cell(&self, row: &T) -> String {
        match self.shows {
            Shows::Word(get) => get(row),
            Shows::Number(get) => given(get(row).map(|value| value * self.factor)),
            Shows::Count(get) => get(row).to_string(),
            Shows::Mean(get) => averaged(self.scaled(get(row)), |mean| digits(mean.mean)),
            Shows::MeanCount(get) => averaged(self.scaled(get(row)), mean_count),
            Shows::Bound(get) => match get(row) {
                (None, _) => "-".to_owned(),
                (mean, false) => averaged(self.scaled(mean), |mean| digits(mean.mean)),
                (mean, true) => {
                    format!("≥ {}", averaged(self.scaled(mean), |mean| digits(mean.mean)))
                }
            },
            Shows::Part(get) => {
                let [part, all] = get(row);
                format!("{part} of {all}")
            }
        }
    }

    fn scaled(&self, mean: Option<Mean>) -> Option<Mean> {
        mean.map(|mean| mean.times(self.factor))
    }

    /// Its value in the field's unit, of a mean the mean.
    #[must_use]
    pub fn value(&self, row: &T) -> Option<f64> {
        match self.shows {
            Shows::Word(_) => None,
            Shows::Number(get) => get(row),
            Shows::Count(get) => Some(get(row) as f64),
            Shows::Mean(get) | Shows::MeanCount(get) => get(row).map(|mean| mean.mean),
            Shows::Bound(get) => get(row).0.map(|mean| mean.mean),
            Shows::Part(get) => Some(get(row)[0] as f64),
        }
    }

    fn head(&self) -> Head {
        let Column { short, long, rank, factor, .. } = *self;
        let is_count = matches!(self.shows, Shows::Count(_) | Shows::MeanCount(_));
        Head { short, long, rank, factor, is_count }
    }
}

/// How tables show a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// As of a column.
    pub short: &'static str,
    /// As of a column.
    pub long: &'static str,
    /// As of a column.
    pub rank: Option<u8>,
    /// From the field's unit to the one of the heads.
    pub factor: f64,
    /// It counts things.
    pub is_count: bool,
}

/// How tables show this field of a thing of this kind, which is as in the series; `None` if they do
/// not.
#[must_use]
pub fn head(kind: &str, field: &str) -> Option<Head> {
    fn of<T>(columns: &[Column<T>], field: &str) -> Option<Head> {
        columns.iter().find(|column| column.field == field).map(Column::head)
    }
    match kind {
        "network" => of(COMBINATIONS, field),
        "flow" => of(FLOWS, field).or_else(|| of(VIDEOS, field)),
        "workload" => of(WORKLOADS, field),
        "link" => of(LINKS, field),
        "node" => of(NODES, field),
        _ => None,
    }
}

/// Combinations of settings, each over its repetitions.
pub const COMBINATIONS: &[Column<Combination>] = &[
    column(
        "goodput_mbps",
        ["goodput (Mbit/s)", "goodput (Mbit/s)"],
        0,
        Shows::Mean(|c| c.goodput_mbps),
    ),
    column("finished", ["complete", "complete"], 0, Shows::Part(|c| [c.finished, c.flows])),
    column(
        "fct_s",
        ["completion (s)", "completion (s)"],
        0,
        Shows::Bound(|c| (c.fct_s, c.finished < c.flows)),
    ),
    column("rtt_mean_ms", ["RTT (ms)", "RTT (ms)"], 1, Shows::Mean(|c| c.rtt_mean_ms)),
    column("jain_index", ["Jain", "Jain index"], 1, Shows::Mean(|c| c.jain_index)),
    column("drops", ["drops", "lost"], 2, Shows::MeanCount(|c| c.drops)),
    times(
        100.0,
        column("hit_ratio", ["hit ratio (%)", "hit ratio (%)"], 0, Shows::Mean(|c| c.hit_ratio)),
    ),
];

/// The columns that a table of combinations has: without the last, if there are no stores.
#[must_use]
pub fn combinations<'c>(
    mut all: impl Iterator<Item = &'c Combination>,
) -> Vec<&'static Column<Combination>> {
    let has_stores = all.any(|c| c.hit_ratio.is_some());
    COMBINATIONS.iter().filter(|column| has_stores || column.field != "hit_ratio").collect()
}

/// Consumers.
pub const FLOWS: &[Column<Flow>] = &[
    word(["consumer", "consumer"], 0, |flow| flow.node.clone()),
    word(["name", "content"], 1, |flow| flow.name.clone()),
    word(["control", "control"], 0, |flow| flow.control.clone()),
    times(1e-6, number("bytes", ["MB", "MB"], 2, |flow| Some(flow.bytes as f64))),
    number("goodput_mbps", ["goodput (Mbit/s)"; 2], 0, |flow| flow.goodput_mbps),
    number("fct_s", ["completion (s)", "completion (s)"], 0, |flow| flow.fct_s),
    number("window_mean", ["window", "mean window"], 3, |flow| flow.window_mean),
    number("rtt_mean_ms", ["RTT (ms)", "mean RTT (ms)"], 1, |flow| flow.rtt_mean_ms),
    paged(number("rtt_p99_ms", ["99 % RTT (ms)"; 2], 0, |flow| flow.rtt_p99_ms)),
    count("timeouts", ["timeouts", "timeouts"], 2, |flow| flow.counters.timeouts),
    count("retransmissions", ["again", "sent again"], 3, |flow| flow.counters.retransmissions),
    count("marks", ["marks", "marks"], 3, |flow| flow.counters.marks),
    times(100.0, number("delivery_ratio", ["delivered (%)"; 2], 2, |flow| flow.delivery_ratio)),
];

/// Videos, and how they were watched.
pub const VIDEOS: &[Column<Flow>] = &[
    word(["player", "player"], 0, |flow| flow.node.clone()),
    word(["video", "video"], 1, |flow| flow.name.clone()),
    number("startup_delay_s", ["begins after (s)"; 2], 0, |flow| flow.startup_delay_s),
    count("stalls", ["stalls", "stalls"], 0, |flow| flow.stalls.unwrap_or(0)),
    number("stall_s", ["stalled (s)", "stalled (s)"], 0, |flow| flow.stall_s),
    count("quality_switches", ["switches", "changes of quality"], 1, |flow| {
        flow.quality_switches.unwrap_or(0)
    }),
    number("bitrate_mean_mbps", ["quality (Mbit/s)", "mean quality (Mbit/s)"], 0, |flow| {
        flow.bitrate_mean_mbps
    }),
    number("played_s", ["played (s)", "played (s)"], 1, |flow| flow.played_s),
];

/// Workloads by class.
pub const WORKLOADS: &[Column<Workload>] = &[
    word(["workload", "workload"], 0, |one| one.workload.clone()),
    word(["class", "class"], 1, |one| one.class.clone()),
    count("started", ["began", "began"], 0, |one| one.started),
    count("completed", ["complete", "complete"], 0, |one| one.completed),
    count("failed", ["failed", "failed"], 1, |one| one.failed),
    paged(times(1e-6, number("bytes", ["MB", "MB"], 0, |one| Some(one.bytes as f64)))),
    number("fct_mean_s", ["mean (s)", "mean time (s)"], 0, |one| one.fct_mean_s),
    number("fct_p50_s", ["half in (s)", "half in (s)"], 1, |one| one.fct_p50_s),
    number("fct_p90_s", ["90 % in (s)", "90 % in (s)"], 2, |one| one.fct_p90_s),
    number("fct_p99_s", ["99 % in (s)", "99 % in (s)"], 1, |one| one.fct_p99_s),
    number("goodput_mean_mbps", ["goodput (Mbit/s)", "mean goodput (Mbit/s)"], 2, |one| {
        one.goodput_mean_mbps
    }),
];

/// Directions of links.
pub const LINKS: &[Column<Link>] = &[
    word(["from", "from"], 0, |link| link.from.clone()),
    word(["to", "to"], 0, |link| link.to.clone()),
    number("rate_mbps", ["rate (Mbit/s)"; 2], 1, |link| link.rate_mbps),
    paged(number("delay_ms", ["delay (ms)"; 2], 0, |link| Some(link.delay_ms))),
    times(100.0, number("utilization", ["used (%)"; 2], 0, |link| Some(link.utilization))),
    times(
        1e-3,
        number("queue_mean_bytes", ["queue (kB)", "mean queue (kB)"], 0, |link| {
            Some(link.queue_mean_bytes)
        }),
    ),
    times(
        1e-3,
        number("queue_max_bytes", ["most (kB)", "longest queue (kB)"], 1, |link| {
            Some(link.queue_max_bytes as f64)
        }),
    ),
    count("drops", ["drops", "lost"], 0, |link| link.drops),
    count("marked", ["marked", "marked"], 2, |link| link.counters.marked),
    count("interests", ["Interests", "Interests"], 2, |link| link.interests),
    count("data", ["Data", "Data"], 2, |link| link.data),
    count("nacks", ["Nacks", "Nacks"], 3, |link| link.nacks),
];

/// Nodes.
pub const NODES: &[Column<Node>] = &[
    word(["node", "node"], 0, |node| node.node.clone()),
    paged(word(["role", "role"], 0, |node| node.role.clone())),
    count("interests_in", ["Interests in", "Interests in"], 0, |node| node.interests_in),
    count("data_out", ["Data out", "Data out"], 0, |node| node.data_out),
    count("cs_hits", ["store hits", "store hits"], 0, |node| node.cs_hits),
    count("cs_misses", ["misses", "store misses"], 1, |node| node.cs_misses),
    count("pit_max", ["most pending", "most pending"], 1, |node| node.pit_max),
    paged(count("satisfied", ["satisfied", "satisfied"], 0, |node| node.interests.satisfied)),
    paged(count("nacked", ["nacked", "nacked"], 0, |node| node.interests.nacked)),
    count("expired", ["expired", "expired"], 2, |node| node.interests.expired),
];

/// Content stores.
pub const STORES: &[Column<NodeHits>] = &[
    word(["store at", "store at"], 0, |one| one.node.clone()),
    count("hits", ["hits", "hits"], 0, |one| one.hits),
    count("misses", ["misses", "misses"], 0, |one| one.misses),
    times(100.0, number("hit_ratio", ["hit ratio (%)"; 2], 0, |one| one.hit_ratio)),
];

/// The columns that a table of these rows has: those of words that all rows leave empty are left
/// out.
#[must_use]
pub fn filled_columns<T>(columns: &'static [Column<T>], rows: &[&T]) -> Vec<&'static Column<T>> {
    columns
        .iter()
        .filter(|column| !column.is_word() || rows.iter().any(|row| !column.cell(row).is_empty()))
        .collect()
}

/// So many rows a table has at most: more would stand before everything else.
pub const MOST: usize = 24;

/// The rows that a table shows: all, or those of most weight, the greatest first.
#[must_use]
pub fn most<T>(rows: &[T], weight: fn(&T) -> f64) -> Vec<&T> {
    let mut shown: Vec<&T> = rows.iter().collect();
    if shown.len() > MOST {
        shown.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        shown.truncate(MOST);
    }
    shown
}

/// A mean, with its interval if there were several values.
#[must_use]
pub fn averaged(mean: Option<Mean>, shown: fn(Mean) -> String) -> String {
    match mean {
        None => "-".to_owned(),
        Some(mean @ Mean { ci95: None, .. }) => shown(mean),
        Some(mean @ Mean { ci95: Some(half), .. }) => {
            format!("{} ± {}", shown(mean), digits(half))
        }
    }
}

/// The mean of a count over runs: a whole number where every run had the same.
#[must_use]
pub fn mean_count(mean: Mean) -> String {
    match mean.ci95.is_none_or(|half| half == 0.0) && mean.mean.fract() == 0.0 {
        true => format!("{:.0}", mean.mean),
        false => digits(mean.mean),
    }
}

/// As [`digits`], or a dash where there is none.
#[must_use]
pub fn given(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Field;

    #[test]
    fn numbers_have_three_digits_that_matter() {
        let shown = [0.0, 1e-7, -0.25, 1.0, 12.34, 99.94, 99.96, 12_345.6].map(digits);
        assert_eq!(shown, ["0", "0", "-0.250", "1.00", "12.3", "99.9", "100", "12346"]);
        let many: Vec<u32> = (0..30).collect();
        let shown = most(&many, |n| f64::from(*n));
        assert_eq!((shown.len(), shown[0], shown[23]), (24, &29, &6));
        assert_eq!(most(&many[..3], |n| f64::from(*n)), [&0, &1, &2]);
        let counts: [&[f64]; 4] = [&[3.0], &[3.0, 3.0], &[2.0, 4.0], &[1.0, 1.0, 2.0]];
        let shown = counts.map(|counts| mean_count(Mean::of(counts).unwrap()));
        assert_eq!(shown, ["3", "3", "3.00", "1.33"], "a mean of different counts is no count");
        assert_eq!(given(None), "-");
    }

    #[test]
    fn a_field_is_shown_in_the_unit_of_the_head() {
        let link = Link { utilization: 0.5, queue_mean_bytes: 12_340.0, ..Link::default() };
        let of = |field: &str| LINKS.iter().find(|column| column.field == field).unwrap();
        assert_eq!(of("utilization").cell(&link), "50.0");
        let queue = of("queue_mean_bytes");
        assert_eq!((queue.cell(&link), queue.value(&link)), ("12.3".to_owned(), Some(12_340.0)));
        assert_eq!(head("link", "queue_mean_bytes").unwrap().factor, 1e-3);
        assert_eq!(head("link", "fct_s"), None);
    }

    /// Columns name fields, whose values they show.
    #[test]
    fn columns_know_their_fields() {
        fn check<T>(columns: &[Column<T>], fields: &[Field]) {
            for column in columns.iter().filter(|column| !column.is_word()) {
                assert!(fields.iter().any(|f| f.name == column.field), "{}", column.field);
            }
        }
        check(FLOWS, Flow::FIELDS);
        check(VIDEOS, Flow::FIELDS);
        check(WORKLOADS, Workload::FIELDS);
        check(LINKS, Link::FIELDS);
        check(NODES, Node::FIELDS);
        check(STORES, NodeHits::FIELDS);
    }
}
