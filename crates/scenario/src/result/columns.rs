//! What tables show of results: one list for the terminal and for pages.

use super::{Flow, Link, Node, NodeHits, Workload};
use crate::statistics::Mean;

/// A column.
#[derive(Clone, Copy)]
pub struct Column<T: 'static> {
    /// Its head, with the unit, where there is little room.
    pub short: &'static str,
    /// Its head on a page.
    pub long: &'static str,
    /// It holds words and no numbers.
    pub is_word: bool,
    /// In a narrow terminal columns of a higher rank go first, those of rank 0 never; those without
    /// one are on pages alone.
    pub rank: Option<u8>,
    /// What it says.
    pub cell: fn(&T) -> String,
}

const fn word<T>(head: [&'static str; 2], rank: u8, cell: fn(&T) -> String) -> Column<T> {
    let [short, long] = head;
    Column { short, long, is_word: true, rank: Some(rank), cell }
}

const fn number<T>(head: [&'static str; 2], rank: u8, cell: fn(&T) -> String) -> Column<T> {
    let [short, long] = head;
    Column { short, long, is_word: false, rank: Some(rank), cell }
}

const fn paged<T>(long: &'static str, is_word: bool, cell: fn(&T) -> String) -> Column<T> {
    Column { short: long, long, is_word, rank: None, cell }
}

/// Consumers.
pub const FLOWS: &[Column<Flow>] = &[
    word(["consumer", "consumer"], 0, |flow| flow.node.clone()),
    word(["name", "content"], 1, |flow| flow.name.clone()),
    word(["control", "control"], 0, |flow| flow.control.clone()),
    number(["MB", "MB"], 2, |flow| digits(flow.bytes as f64 / 1e6)),
    number(["Mbit/s", "goodput (Mbit/s)"], 0, |flow| given(flow.goodput_mbps)),
    number(["completion (s)", "completion (s)"], 0, |flow| given(flow.fct_s)),
    number(["window", "mean window"], 3, |flow| given(flow.window_mean)),
    number(["RTT (ms)", "mean RTT (ms)"], 1, |flow| given(flow.rtt_mean_ms)),
    paged("99 % RTT (ms)", false, |flow| given(flow.rtt_p99_ms)),
    number(["timeouts", "timeouts"], 2, |flow| flow.timeouts.to_string()),
    number(["again", "sent again"], 3, |flow| flow.retransmissions.to_string()),
    number(["marks", "marks"], 3, |flow| flow.marks.to_string()),
    number(["delivered (%)", "delivered (%)"], 2, |flow| percent(flow.delivery_ratio)),
];

/// Videos, and how they were watched.
pub const VIDEOS: &[Column<Flow>] = &[
    word(["player", "player"], 0, |flow| flow.node.clone()),
    word(["video", "video"], 1, |flow| flow.name.clone()),
    number(["begins after (s)", "begins after (s)"], 0, |flow| given(flow.startup_delay_s)),
    number(["stalls", "stalls"], 0, |flow| flow.stalls.unwrap_or(0).to_string()),
    number(["stalled (s)", "stalled (s)"], 0, |flow| given(flow.stall_s)),
    number(["switches", "changes of quality"], 1, |flow| {
        flow.quality_switches.unwrap_or(0).to_string()
    }),
    number(["mean Mbit/s", "mean quality (Mbit/s)"], 0, |flow| given(flow.bitrate_mean_mbps)),
    number(["played (s)", "played (s)"], 1, |flow| given(flow.played_s)),
];

/// Workloads by class.
pub const WORKLOADS: &[Column<Workload>] = &[
    word(["workload", "workload"], 0, |one| one.workload.clone()),
    word(["class", "class"], 1, |one| one.class.clone()),
    number(["began", "began"], 0, |one| one.started.to_string()),
    number(["complete", "complete"], 0, |one| one.completed.to_string()),
    number(["failed", "failed"], 1, |one| one.failed.to_string()),
    paged("MB", false, |one| digits(one.bytes as f64 / 1e6)),
    number(["mean (s)", "mean time (s)"], 0, |one| given(one.fct_mean_s)),
    number(["half in (s)", "half in (s)"], 1, |one| given(one.fct_p50_s)),
    number(["90 % in (s)", "90 % in (s)"], 2, |one| given(one.fct_p90_s)),
    number(["99 % in (s)", "99 % in (s)"], 1, |one| given(one.fct_p99_s)),
    number(["Mbit/s", "mean goodput (Mbit/s)"], 2, |one| given(one.goodput_mean_mbps)),
];

/// Directions of links.
pub const LINKS: &[Column<Link>] = &[
    word(["from", "from"], 0, |link| link.from.clone()),
    word(["to", "to"], 0, |link| link.to.clone()),
    number(["Mbit/s", "rate (Mbit/s)"], 1, |link| given(link.rate_mbps)),
    paged("delay (ms)", false, |link| digits(link.delay_ms)),
    number(["used (%)", "used (%)"], 0, |link| digits(link.utilization * 100.0)),
    number(["queue (kB)", "mean queue (kB)"], 0, |link| digits(link.queue_mean_bytes / 1e3)),
    number(["most (kB)", "longest queue (kB)"], 1, |link| {
        digits(link.queue_max_bytes as f64 / 1e3)
    }),
    number(["drops", "lost"], 0, |link| link.drops.to_string()),
    number(["marked", "marked"], 2, |link| link.marked.to_string()),
    number(["Interests", "Interests"], 2, |link| link.interests.to_string()),
    number(["Data", "Data"], 2, |link| link.data.to_string()),
    number(["Nacks", "Nacks"], 3, |link| link.nacks.to_string()),
];

/// Nodes.
pub const NODES: &[Column<Node>] = &[
    word(["node", "node"], 0, |node| node.node.clone()),
    paged("role", true, |node| node.role.clone()),
    number(["Interests in", "Interests in"], 0, |node| node.interests_in.to_string()),
    number(["Data out", "Data out"], 0, |node| node.data_out.to_string()),
    number(["store hits", "store hits"], 0, |node| node.cs_hits.to_string()),
    number(["misses", "store misses"], 1, |node| node.cs_misses.to_string()),
    number(["most pending", "most pending"], 1, |node| node.pit_max.to_string()),
    paged("satisfied", false, |node| node.satisfied.to_string()),
    paged("nacked", false, |node| node.nacked.to_string()),
    number(["expired", "expired"], 2, |node| node.expired.to_string()),
];

/// Content stores.
pub const STORES: &[Column<NodeHits>] = &[
    word(["store at", "store at"], 0, |one| one.node.clone()),
    number(["hits", "hits"], 0, |one| one.hits.to_string()),
    number(["misses", "misses"], 0, |one| one.misses.to_string()),
    number(["hit ratio (%)", "hit ratio (%)"], 0, |one| percent(one.hit_ratio)),
];

/// The columns that a table of these rows has: those of words that all rows leave empty are left
/// out.
#[must_use]
pub fn telling<T>(columns: &'static [Column<T>], rows: &[&T]) -> Vec<&'static Column<T>> {
    let says = |column: &&Column<T>| {
        !column.is_word || rows.iter().any(|row| !(column.cell)(row).is_empty())
    };
    columns.iter().filter(says).collect()
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

/// A number with three significant digits.
#[must_use]
pub fn digits(value: f64) -> String {
    match value.abs() {
        v if v < 0.000_5 => "0".to_owned(),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
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
pub fn counted(mean: Mean) -> String {
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

fn percent(share: Option<f64>) -> String {
    given(share.map(|share| share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_matter() {
        let shown = [0.0, 1e-7, -0.25, 1.0, 12.34, 99.94, 99.96, 12_345.6].map(digits);
        assert_eq!(shown, ["0", "0", "-0.250", "1.00", "12.3", "99.9", "100", "12346"]);
        let many: Vec<u32> = (0..30).collect();
        let shown = most(&many, |n| f64::from(*n));
        assert_eq!((shown.len(), shown[0], shown[23]), (24, &29, &6));
        assert_eq!(most(&many[..3], |n| f64::from(*n)), [&0, &1, &2]);
        let counts: [&[f64]; 4] = [&[3.0], &[3.0, 3.0], &[2.0, 4.0], &[1.0, 1.0, 2.0]];
        let shown = counts.map(|counts| counted(Mean::of(counts).unwrap()));
        assert_eq!(shown, ["3", "3", "3.00", "1.33"], "a mean of different counts is no count");
        assert_eq!([given(None), percent(Some(0.5))], ["-", "50.0"]);
    }
}
