//! Workloads, videos and content stores.

use super::{left, right};
use crate::output::{Table, digits};
use scenario::result::{Caching, Flow, Workload};

fn given(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), digits)
}

/// Workloads by class.
pub fn workloads(workloads: &[Workload]) -> Table {
    let mut table = Table::new(vec![
        left("workload", 0),
        left("class", 1),
        right("began", 0),
        right("complete", 0),
        right("failed", 1),
        right("mean (s)", 0),
        right("half in (s)", 1),
        right("90 % in (s)", 2),
        right("99 % in (s)", 1),
        right("Mbit/s", 2),
    ]);
    for one in workloads {
        table.row(vec![
            one.workload.clone(),
            one.class.clone(),
            one.started.to_string(),
            one.completed.to_string(),
            one.failed.to_string(),
            given(one.fct_mean_s),
            given(one.fct_p50_s),
            given(one.fct_p90_s),
            given(one.fct_p99_s),
            given(one.goodput_mean_mbps),
        ]);
    }
    table
}

/// How videos were watched.
pub fn videos(flows: &[&Flow]) -> Table {
    let mut table = Table::new(vec![
        left("player", 0),
        left("video", 1),
        right("begins after (s)", 0),
        right("stalls", 0),
        right("stalled (s)", 0),
        right("switches", 1),
        right("mean Mbit/s", 0),
        right("played (s)", 1),
    ]);
    for flow in flows {
        table.row(vec![
            flow.node.clone(),
            flow.name.clone(),
            given(flow.startup_delay_s),
            flow.stalls.unwrap_or(0).to_string(),
            given(flow.stall_s),
            flow.quality_switches.unwrap_or(0).to_string(),
            given(flow.bitrate_mean_mbps),
            given(flow.played_s),
        ]);
    }
    table
}

/// What content stores answered.
pub fn caching(caching: &Caching) -> String {
    let share = |ratio: Option<f64>| match ratio {
        Some(ratio) => format!("{} %", digits(100.0 * ratio)),
        None => "nothing".to_owned(),
    };
    let end = digits(caching.warmup_end_s);
    match caching.warmup_detected {
        true if caching.warmup_end_s == 0.0 => format!(
            "content stores gave {} of all answers; no warm-up was found ({})",
            share(caching.after.hit_ratio),
            caching.warmup_rule,
        ),
        true => format!(
            "content stores gave {} of all answers after a warm-up of {end} s ({}), {} \
             before",
            share(caching.after.hit_ratio),
            caching.warmup_rule,
            share(caching.before.hit_ratio),
        ),
        false => format!(
            "content stores gave {} of all answers; the run is too short to tell the end of \
             the warm-up",
            share(caching.whole.hit_ratio),
        ),
    }
}
