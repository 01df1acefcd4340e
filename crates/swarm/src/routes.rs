//! The single next hop of every node to every object, for plans that list routes.

use crate::plan::Plan;

/// A next hop: the link, and the node behind it.
pub type NextHop = Option<(usize, usize)>;

/// The next hop of each node to the nearest of these nodes, by delay, then hops, then the links'
/// order. `None` without a path, and at the nodes themselves.
#[must_use]
pub fn towards(plan: &Plan, goals: &[usize]) -> Vec<NextHop> {
    const FAR: (u64, u64) = (u64::MAX, u64::MAX);
    let mut best = vec![FAR; plan.nodes.len()];
    let mut next: Vec<NextHop> = vec![None; plan.nodes.len()];
    for goal in goals {
        best[*goal] = (0, 0);
    }
    // Bellman and Ford: the networks are small.
    loop {
        let mut changed = false;
        for (number, link) in plan.links.iter().enumerate() {
            for [from, to] in [link.ends, [link.ends[1], link.ends[0]]] {
                let (delay, hops) = best[to];
                if delay == u64::MAX {
                    continue;
                }
                let offer = (delay + link.delay_us, hops + 1);
                if offer < best[from] {
                    (best[from], next[from]) = (offer, Some((number, to)));
                    changed = true;
                }
            }
        }
        if !changed {
            return next;
        }
    }
}

/// The links from a flow's consumer to its nearest producer, each with a flag for Interests from
/// its second end to its first. `None` without a path.
#[must_use]
pub fn path(plan: &Plan, flow: usize) -> Option<Vec<(usize, bool)>> {
    let flow = &plan.flows[flow];
    let goals = &plan.contents[flow.content].at;
    let next = towards(plan, goals);
    let (mut at, mut links) = (flow.at, Vec::new());
    while !goals.contains(&at) {
        let (link, to) = next[at]?;
        links.push((link, plan.links[link].ends[1] == at));
        at = to;
    }
    Some(links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests as testing;

    #[test]
    fn the_shortest_way_is_taken() {
        let mut plan = testing::line(3);
        assert_eq!(path(&plan, 0), Some(vec![(0, false), (1, false)]));
        // A detour that is longer, then shorter.
        let mut link = plan.links[0].clone();
        (link.ends, link.delay_us) = ([2, 0], 10 * link.delay_us);
        plan.links.push(link);
        assert_eq!(path(&plan, 0), Some(vec![(0, false), (1, false)]));
        plan.links[2].delay_us = 1;
        assert_eq!(path(&plan, 0), Some(vec![(2, true)]));
        plan.links.clear();
        assert_eq!(path(&plan, 0), None);
    }
}
