//! From a plan to the text of a scenario file.

use crate::plan::{FaultKind, Link, Loss, Manner, Plan, Routing};
use crate::routes::towards;
use std::fmt::Write;

/// The time that a fetch waits for anything new: longer than any fault lasts.
pub const PATIENCE_S: u64 = 600;

/// The scenario file, ending after this many milliseconds; each line of `head` is a comment at its
/// beginning.
#[must_use]
pub fn toml(plan: &Plan, duration_ms: u64, head: &[String]) -> String {
    let mut out = String::new();
    for line in head {
        let _ = writeln!(out, "{}", format!("# {line}").trim_end());
    }
    let _ = writeln!(out, "[scenario]\nname = \"swarm-{}\"", plan.seed);
    let _ = writeln!(out, "duration = \"{duration_ms} ms\"\nseed = {}", plan.seed);
    match plan.routing {
        Routing::Listed => out.push_str("routing = \"listed\"\n"),
        Routing::Computed(paths) => {
            let _ = writeln!(out, "routing = \"delay\"\npaths = {paths}");
        }
    }
    if let Some(strategy) = &plan.strategy {
        let _ = writeln!(out, "strategy = \"{strategy}\"");
    }
    for (number, node) in plan.nodes.iter().enumerate() {
        let _ = writeln!(out, "\n[[node]]\nname = \"n{number}\"");
        if node.store > 0 {
            let _ = writeln!(out, "content_store = \"{} packets\"", node.store);
        }
    }
    plan.links.iter().for_each(|one| link(&mut out, one));
    demand(&mut out, plan);
    if plan.routing == Routing::Listed {
        routes(&mut out, plan);
    }
    faults(&mut out, plan);
    out
}

/// Parts of a million as a share.
fn share(ppm: u64) -> String {
    format!("{}.{:06}", ppm / 1_000_000, ppm % 1_000_000)
}

fn link(out: &mut String, link: &Link) {
    let [a, b] = link.ends;
    let _ = writeln!(out, "\n[[link]]\nbetween = [\"n{a}\", \"n{b}\"]");
    let _ = writeln!(out, "rate = \"{} bit/s\"\ndelay = \"{} us\"", link.rate, link.delay_us);
    let _ = writeln!(out, "queue = \"{} B\"", link.queue);
    match link.loss {
        Loss::None => {}
        Loss::Random(ppm) => {
            let _ = writeln!(out, "loss = {}", share(ppm));
        }
        Loss::Bursts(to_bad, to_good, bad) => {
            let [to_bad, to_good, bad] = [to_bad, to_good, bad].map(share);
            let table = format!("{{ to_bad = {to_bad}, to_good = {to_good}, bad = {bad} }}");
            let _ = writeln!(out, "loss = {table}");
        }
    }
    if link.jitter_us > 0 {
        let _ = writeln!(out, "jitter = \"{} us\"", link.jitter_us);
    }
    if link.reorder > 0 {
        let _ = writeln!(out, "reorder = {}", share(link.reorder));
        let _ = writeln!(out, "reorder_by = \"{} us\"", link.reorder_by_us);
    }
    if link.duplicate > 0 {
        let _ = writeln!(out, "duplicate = {}", share(link.duplicate));
    }
    if let Some(scheme) = &link.scheme {
        let _ = writeln!(out, "scheme = \"{scheme}\"");
    }
}

fn demand(out: &mut String, plan: &Plan) {
    for (number, content) in plan.contents.iter().enumerate() {
        let at: Vec<String> = content.at.iter().map(|node| format!("\"n{node}\"")).collect();
        let _ =
            writeln!(out, "\n[[content]]\nname = \"/swarm/{number}\"\nat = [{}]", at.join(", "));
        let _ = writeln!(out, "size = \"{} B\"\nsegment = \"{} B\"", content.size, content.segment);
        out.push_str("signing = \"none\"\n");
        if content.is_spread {
            out.push_str("placement = \"segments\"\n");
        }
    }
    for flow in &plan.flows {
        let _ = writeln!(out, "\n[[consumer]]\nat = \"n{}\"", flow.at);
        let _ =
            writeln!(out, "name = \"/swarm/{}\"\nstart = \"{} ms\"", flow.content, flow.start_ms);
        let _ = match &flow.manner {
            Manner::Fetch(scheme) | Manner::Deaf(scheme) => {
                writeln!(out, "control = \"{scheme}\"\npatience = \"{PATIENCE_S} s\"")
            }
            Manner::Constant { per_second, stop_ms } => {
                writeln!(out, "rate = \"{per_second} /s\"\nstop = \"{stop_ms} ms\"")
            }
        };
    }
}

fn routes(out: &mut String, plan: &Plan) {
    for (number, content) in plan.contents.iter().enumerate() {
        let next = towards(plan, &content.at);
        let mut needed = vec![false; plan.nodes.len()];
        for flow in plan.flows.iter().filter(|flow| flow.content == number) {
            let mut at = flow.at;
            while let Some((_, via)) = next[at].filter(|_| !needed[at]) {
                needed[at] = true;
                at = via;
            }
        }
        for (at, next) in next.iter().enumerate().filter(|(at, _)| needed[*at]) {
            let Some((_, via)) = next else { continue };
            let _ = writeln!(out, "\n[[route]]\nat = \"n{at}\"\nprefix = \"/swarm/{number}\"");
            let _ = writeln!(out, "via = \"n{via}\"");
        }
    }
}

fn fault_at(out: &mut String, at_ms: u64, kind: &str, what: &str) {
    let _ = writeln!(out, "\n[[fault]]\nat = \"{at_ms} ms\"\nkind = \"{kind}\"\n{what}");
}

fn faults(out: &mut String, plan: &Plan) {
    for fault in &plan.faults {
        let (at, end) = (fault.at_ms, fault.at_ms + fault.lasts_ms);
        match fault.kind {
            FaultKind::LinkDown(link) => {
                let [a, b] = plan.links[link].ends;
                let what = format!("link = [\"n{a}\", \"n{b}\"]");
                fault_at(out, at, "link-down", &what);
                fault_at(out, end, "link-up", &what);
            }
            FaultKind::NodeDown(node) => {
                let what = format!("node = \"n{node}\"");
                fault_at(out, at, "node-crash", &what);
                fault_at(out, end, "node-restart", &what);
            }
            FaultKind::Rate(link, rate) => {
                let [a, b] = plan.links[link].ends;
                for (when, rate) in [(at, rate), (end, plan.links[link].rate)] {
                    for [from, to] in [[a, b], [b, a]] {
                        let what =
                            format!("link = [\"n{from}\", \"n{to}\"]\nrate = \"{rate} bit/s\"");
                        fault_at(out, when, "link-rate", &what);
                    }
                }
            }
        }
    }
}
