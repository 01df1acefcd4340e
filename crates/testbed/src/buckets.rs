//! Rates and queues of links by the kernel's token buckets (tc-tbf(8)), which all frames of a link
//! pass, with all of their headers.

use crate::error::TestbedError;
use crate::namespaces;
use crate::plan::Plan;
use control::{Duration, Rate};
use scenario::model::Queue;
use serde::Deserialize;

/// The depth of a bucket, in time: the kernel wakes up more often.
const BUCKET: Duration = Duration::from_millis(1);
/// Bytes of a frame of Ethernet around its IP packet, as the kernel counts them.
const ETHERNET: u64 = 14;
/// The kernel's message about an absent queueing discipline.
const UNKNOWN: &str = "unknown";

/// The traffic of a link's end.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Passed {
    kind: String,
    dev: String,
    /// Bytes of its frames.
    pub bytes: u64,
    /// Its frames.
    pub packets: u64,
    /// Frames that found the queue full.
    pub drops: u64,
}

/// Sets up token buckets at both ends of all links.
///
/// # Errors
/// The host has no `tc`, or the kernel has no token buckets.
pub fn build(namespaces: &[String], plan: &Plan) -> Result<(), TestbedError> {
    for (at, name) in namespaces.iter().enumerate() {
        let mut lines = String::new();
        for link in &plan.links {
            for end in (0..2).filter(|end| link.ends[*end] == at) {
                let (rate, queue) = link.directions[end];
                lines += &bucket(&link.interface, rate, queue, plan.medium.mtu);
            }
        }
        let made = namespaces::run("tc", &["-n", name, "-batch", "-"], &lines);
        made.map_err(|error| match error {
            TestbedError::Failed { output, .. } if output.contains(UNKNOWN) => {
                TestbedError::NoTokenBuckets(output)
            }
            other => other,
        })?;
    }
    Ok(())
}

/// The commands that make one.
fn bucket(interface: &str, rate: Rate, queue: Queue, mtu: u16) -> String {
    // It holds two frames at least, or the largest ones would never pass.
    let frame = u64::from(mtu) + ETHERNET;
    let burst = rate.size_in(BUCKET).0.max(2 * frame);
    let (bytes, packets) = queue.bounds();
    let limit = match packets {
        usize::MAX => bytes.0.max(frame),
        packets => (packets as u64).saturating_mul(frame),
    };
    let limit = limit.min(u64::from(u32::MAX));
    let mut lines = format!(
        "qdisc add dev {interface} root handle 1: tbf rate {}bit burst {burst} limit {limit}\n",
        rate.0
    );
    if packets != usize::MAX {
        lines += &format!("qdisc add dev {interface} parent 1:1 handle 2: pfifo limit {packets}\n");
    }
    lines
}

/// The traffic of the ends of all links until now, in the order of the scenario.
///
/// # Errors
/// `tc` fails.
pub fn passed(testbed: &str, plan: &Plan) -> Result<Vec<[Passed; 2]>, TestbedError> {
    let mut all = Vec::new();
    for node in &plan.nodes {
        let name = namespaces::namespace(testbed, &node.short);
        let output = namespaces::run("tc", &["-n", &name, "-s", "-j", "qdisc", "show"], "")?.stdout;
        // Others than ours have other fields.
        let disciplines: Vec<serde_json::Value> =
            serde_json::from_slice(&output).unwrap_or_default();
        let ours = disciplines.into_iter().filter_map(|one| serde_json::from_value(one).ok());
        let ours = ours.filter(|one: &Passed| one.kind == "tbf");
        all.push(ours.collect::<Vec<_>>());
    }
    let mut of_links = Vec::new();
    for link in &plan.links {
        of_links.push(link.ends.map(|at| {
            let ours = all[at].iter().find(|one| one.dev == link.interface);
            ours.cloned().unwrap_or_default()
        }));
    }
    Ok(of_links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Size;

    #[test]
    fn buckets_hold_what_the_link_takes() {
        let queue = Queue::Size(Size(250_000));
        assert_eq!(
            bucket("link0", Rate::from_mbps(100), queue, 1500),
            "qdisc add dev link0 root handle 1: tbf rate 100000000bit burst 12500 limit 250000\n"
        );
        // A jumbo frame is more than a millisecond of a slow link; packets are counted by a queue
        // of their own.
        assert_eq!(
            bucket("link1", Rate::from_mbps(1), Queue::Packets(20), 9000),
            "qdisc add dev link1 root handle 1: tbf rate 1000000bit burst 18028 limit 180280\n\
             qdisc add dev link1 parent 1:1 handle 2: pfifo limit 20\n"
        );
    }
}
