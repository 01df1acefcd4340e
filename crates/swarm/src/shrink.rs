//! Shrinks a plan that breaks a rule to a small one that still does.
//!
//! Greedy delta debugging (A. Zeller, R. Hildebrandt, Simplifying and Isolating Failure-Inducing
//! Input, 2002, with cuts that depend on the plan): a cut is kept if the rule still breaks, and all
//! cuts are tried again until none is.

use crate::plan::{FaultKind, Loss, Manner, Plan, Routing};

/// The result of shrinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The smallest plan found.
    pub plan: Plan,
    /// The number of cuts tried.
    pub tried: usize,
    /// The number of cuts kept.
    pub kept: usize,
}

/// The smallest plan found that `breaks`, in at most this many attempts; `plan` must break.
#[must_use]
pub fn shrink(plan: &Plan, attempts: usize, mut breaks: impl FnMut(&Plan) -> bool) -> Shrunk {
    let mut best = Shrunk { plan: plan.clone(), tried: 0, kept: 0 };
    loop {
        let kept = best.kept;
        let mut number = 0;
        // The list of cuts is new after each kept cut, because indices have moved. The loop
        // continues at the same place, which now has another cut.
        while let Some(smaller) = cuts(&best.plan).into_iter().nth(number) {
            if best.tried == attempts {
                return best;
            }
            best.tried += 1;
            if breaks(&smaller) {
                best.plan = smaller;
                best.kept += 1;
            } else {
                number += 1;
            }
        }
        if best.kept == kept {
            return best;
        }
    }
}

/// All plans that are one cut smaller, the largest cuts first.
fn cuts(plan: &Plan) -> Vec<Plan> {
    let mut cuts = Cuts { plan, all: Vec::new() };
    cuts.add(|p| p.faults.clear());
    cuts.add(|p| p.nodes.iter_mut().for_each(|node| node.store = 0));
    cuts.add(|p| p.links.iter_mut().for_each(|link| link.loss = Loss::None));
    cuts.add(|p| p.links.iter_mut().for_each(calm));
    cuts.add(|p| p.links.iter_mut().for_each(|link| link.scheme = None));
    cuts.add(|p| p.strategy = None);
    cuts.add(|p| p.routing = Routing::Listed);
    (0..plan.flows.len()).for_each(|flow| cuts.add(|p| without(&mut p.flows, flow)));
    (0..plan.faults.len()).for_each(|fault| cuts.add(|p| without(&mut p.faults, fault)));
    cuts.add(|p| p.contents.iter_mut().for_each(|content| content.is_spread = false));
    for content in 0..plan.contents.len() {
        for at in 0..plan.contents[content].at.len() {
            cuts.add(|p| {
                if p.contents[content].at.len() > 1 {
                    p.contents[content].at.remove(at);
                }
            });
        }
        cuts.add(|p| p.contents[content].size = (p.contents[content].size / 2).max(1));
    }
    (0..plan.nodes.len()).for_each(|node| cuts.add(|p| remove_node(p, node)));
    for node in 0..plan.nodes.len() {
        cuts.add(|p| bypass(p, node, 0));
        cuts.add(|p| bypass(p, node, 1));
    }
    (0..plan.nodes.len()).for_each(|node| cuts.add(|p| p.nodes[node].store = 0));
    for link in 0..plan.links.len() {
        cuts.add(|p| remove_link(p, link));
        cuts.add(|p| p.links[link].loss = Loss::None);
        cuts.add(|p| calm(&mut p.links[link]));
        cuts.add(|p| p.links[link].scheme = None);
    }
    for flow in 0..plan.flows.len() {
        cuts.add(|p| p.flows[flow].start_ms = 0);
        cuts.add(|p| shorten(&mut p.flows[flow].manner));
    }
    for fault in 0..plan.faults.len() {
        cuts.add(|p| p.faults[fault].lasts_ms = (p.faults[fault].lasts_ms / 2).max(1));
    }
    cuts.all
}

struct Cuts<'p> {
    plan: &'p Plan,
    /// The smaller plans.
    all: Vec<Plan>,
}

impl Cuts<'_> {
    /// Adds the plan after a cut, unless the cut changes nothing or leaves no flow.
    fn add(&mut self, cut: impl FnOnce(&mut Plan)) {
        let mut smaller = self.plan.clone();
        cut(&mut smaller);
        tidy(&mut smaller);
        if smaller != *self.plan && !smaller.flows.is_empty() {
            self.all.push(smaller);
        }
    }
}

fn without<T>(all: &mut Vec<T>, gone: usize) {
    all.remove(gone);
}

fn calm(link: &mut crate::plan::Link) {
    (link.jitter_us, link.reorder, link.reorder_by_us, link.duplicate) = (0, 0, 0, 0);
}

/// Half the time at a constant rate.
fn shorten(manner: &mut Manner) {
    if let Manner::Constant { stop_ms, .. } = manner {
        *stop_ms = (*stop_ms / 2).max(1);
    }
}

/// Removes contents without a consumer.
fn tidy(plan: &mut Plan) {
    while let Some(gone) = (0..plan.contents.len())
        .find(|content| plan.flows.iter().all(|flow| flow.content != *content))
    {
        plan.contents.remove(gone);
        plan.flows.iter_mut().for_each(|flow| flow.content -= usize::from(flow.content > gone));
    }
}

fn remove_link(plan: &mut Plan, gone: usize) {
    plan.links.remove(gone);
    plan.faults.retain(|fault| match fault.kind {
        FaultKind::LinkDown(link) | FaultKind::Rate(link, _) => link != gone,
        FaultKind::NodeDown(_) => true,
    });
    for fault in &mut plan.faults {
        if let FaultKind::LinkDown(link) | FaultKind::Rate(link, _) = &mut fault.kind {
            *link -= usize::from(*link > gone);
        }
    }
}

/// Removes a node without consumers and producers, and its links.
fn remove_node(plan: &mut Plan, gone: usize) {
    if is_used(plan, gone) {
        return;
    }
    while let Some(link) = plan.links.iter().position(|link| link.ends.contains(&gone)) {
        remove_link(plan, link);
    }
    plan.faults.retain(|fault| fault.kind != FaultKind::NodeDown(gone));
    plan.nodes.remove(gone);
    // The nodes behind it have lower numbers now.
    let links = plan.links.iter_mut().flat_map(|link| &mut link.ends);
    let contents = plan.contents.iter_mut().flat_map(|content| &mut content.at);
    let flows = plan.flows.iter_mut().map(|flow| &mut flow.at);
    let faults = plan.faults.iter_mut().filter_map(|fault| match &mut fault.kind {
        FaultKind::NodeDown(node) => Some(node),
        FaultKind::LinkDown(_) | FaultKind::Rate(..) => None,
    });
    for node in links.chain(contents).chain(flows).chain(faults) {
        *node -= usize::from(*node > gone);
    }
}

/// Removes a node between two others, if it has no consumer and no producer. One of its links
/// joins the others.
fn bypass(plan: &mut Plan, gone: usize, keep: usize) {
    let links: Vec<usize> =
        (0..plan.links.len()).filter(|link| plan.links[*link].ends.contains(&gone)).collect();
    if links.len() != 2 || is_used(plan, gone) {
        return;
    }
    let (kept, other) = (links[keep], links[1 - keep]);
    let [from, to] = [kept, other].map(|link| {
        let [a, b] = plan.links[link].ends;
        if a == gone { b } else { a }
    });
    // A route could not distinguish two links between the same nodes.
    let joined = plan.links.iter().any(|l| l.ends == [from, to] || l.ends == [to, from]);
    if from != to && !joined {
        plan.links[kept].ends = [from, to];
        remove_link(plan, other);
        remove_node(plan, gone);
    }
}

/// A consumer or a producer is at the node.
fn is_used(plan: &Plan, node: usize) -> bool {
    let serves = plan.contents.iter().any(|content| content.at.contains(&node));
    serves || plan.flows.iter().any(|flow| flow.at == node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Fault;
    use crate::tests as testing;

    #[test]
    fn parts_irrelevant_to_a_rule_are_removed() {
        let mut plan = testing::line(5);
        testing::more_flows(&mut plan, 3);
        plan.links[1].loss = Loss::Random(10_000);
        plan.links[2].jitter_us = 500;
        plan.links[3].loss = Loss::Random(20_000);
        plan.nodes[2].store = 100;
        let down = |at_ms, link| Fault { at_ms, lasts_ms: 900, kind: FaultKind::LinkDown(link) };
        plan.faults = vec![down(5, 0), down(7, 3)];
        // "It breaks where more than 900 bytes cross a link that loses frames."
        let breaks = |p: &Plan| {
            let lossy = p.links.iter().any(|link| link.loss != Loss::None);
            let large = p.flows.iter().any(|flow| {
                p.contents[flow.content].size > 900 && crate::routes::path(p, 0).is_some()
            });
            lossy && large
        };
        let shrunk = shrink(&plan, 10_000, breaks);
        let small = &shrunk.plan;
        assert!(breaks(small));
        assert_eq!((small.flows.len(), small.contents.len()), (1, 1));
        assert_eq!((small.nodes.len(), small.links.len()), (2, 1));
        assert!(small.faults.is_empty() && !small.has_stores());
        assert_eq!((small.links[0].jitter_us, small.flows[0].start_ms), (0, 0));
        // Half of it would be too little.
        assert!(small.contents[0].size > 900 && small.contents[0].size <= 1_800);
        assert!(shrunk.kept > 8 && shrunk.tried > shrunk.kept);
    }

    #[test]
    fn it_ends_when_it_may_not_try_more() {
        let plan = testing::line(4);
        let shrunk = shrink(&plan, 3, |_| true);
        assert_eq!((shrunk.tried, shrunk.kept), (3, 3));
        assert_eq!(shrink(&plan, 100, |_| false).plan, plan);
    }
}
