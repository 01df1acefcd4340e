//! Flows as fluids at their max-min rates from event to event, over links whose rates change.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use swarm::oracle::{Unsolved, max_min};

/// Paths of a flow: each a list of pipes.
pub type Paths = Vec<Vec<usize>>;

/// Links as pipes, and the groups of flows that use them.
#[derive(Debug, Default)]
pub struct Pipes {
    /// By pipe: instants in seconds with the rate from then on in bits per second, rising; the
    /// first at 0.
    pub steps: Vec<Vec<(f64, f64)>>,
    /// By group: its paths. Flows of a group have equal rates, unless one is capped.
    pub groups: Vec<Paths>,
    known: Mutex<BTreeMap<Vec<u64>, Vec<f64>>>,
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Its start in seconds.
    pub start: f64,
    /// Its size in bits; infinity for a flow that lasts.
    pub bits: f64,
    /// The most bits per second that it asks for.
    pub cap: Option<f64>,
    /// The group whose paths it has.
    pub group: usize,
}

/// A flow's rate over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// From, to and the rate between.
    pub pieces: Vec<Piece>,
    /// When it was over; infinity if it was not.
    pub end: f64,
}

/// A span with a constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Its beginning in seconds.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// Bits per second.
    pub rate: f64,
}

impl Course {
    /// The bits between two instants.
    #[must_use]
    pub fn bits(&self, from: f64, to: f64) -> f64 {
        self.pieces
            .iter()
            .map(|piece| (piece.to.min(to) - piece.from.max(from)).max(0.0) * piece.rate)
            .sum()
    }

    fn add(&mut self, piece: Piece) {
        match self.pieces.last_mut() {
            Some(last) if last.to == piece.from && last.rate == piece.rate => last.to = piece.to,
            _ => self.pieces.push(piece),
        }
    }
}

/// Rates in a span in which no link changes.
struct Epoch {
    number: usize,
    rates: Vec<f64>,
    /// By group: the paths that work, without pipes that cannot limit anything.
    groups: Vec<Paths>,
    /// By group: the first one with these paths, whose flows have the same rates.
    alike: Vec<usize>,
}

impl Pipes {
    /// Pipes with these rates over time, and groups with these paths.
    #[must_use]
    pub fn new(steps: Vec<Vec<(f64, f64)>>, groups: Vec<Paths>) -> Pipes {
        Pipes { steps, groups, known: Mutex::default() }
    }

    /// The instants at which a rate changes.
    fn changes(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.steps.iter().flatten().map(|(at, _)| *at).collect();
        all.push(0.0);
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    fn epoch(&self, number: usize, at: f64) -> Epoch {
        let mut rates: Vec<f64> = Vec::new();
        for steps in &self.steps {
            let step = steps.iter().rev().find(|(from, _)| *from <= at);
            rates.push(step.map_or(0.0, |(_, rate)| *rate));
        }
        // Paths whose pipes all work.
        let mut groups: Vec<Paths> = self.groups.clone();
        for paths in &mut groups {
            paths.retain(|path| path.iter().all(|pipe| rates[*pipe] > 0.0));
        }
        let groups = without_idle(&rates, groups);
        let alike = groups
            .iter()
            .map(|paths| groups.iter().position(|known| known == paths).unwrap_or(0))
            .collect();
        Epoch { number, rates, groups, alike }
    }

    /// The rates of flows that run, by their groups and caps.
    fn rates(&self, epoch: &Epoch, running: &[&Demand]) -> Result<Vec<f64>, Unsolved> {
        let mut kinds: Vec<[u64; 2]> = Vec::new();
        for Demand { group, cap, .. } in running {
            kinds.push([epoch.alike[*group] as u64, cap.map_or(0, f64::to_bits)]);
        }
        let mut order: Vec<usize> = (0..running.len()).collect();
        order.sort_by_key(|at| kinds[*at]);
        let mut key = vec![epoch.number as u64];
        key.extend(order.iter().flat_map(|at| kinds[*at]));
        let found = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let sorted = match found {
            Some(rates) => rates,
            None => {
                let mut rates = epoch.rates.clone();
                let mut paths = Vec::new();
                for at in &order {
                    let mut own = epoch.groups[running[*at].group].clone();
                    if let Some(cap) = running[*at].cap {
                        // A pipe of its own that all of its paths take.
                        own.iter_mut().for_each(|path| path.push(rates.len()));
                        rates.push(cap);
                    }
                    paths.push(own);
                }
                let solved = max_min(&rates, &paths)?;
                let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                known.insert(key, solved.clone());
                solved
            }
        };
        let mut rates = vec![0.0; running.len()];
        order.into_iter().zip(sorted).for_each(|(at, rate)| rates[at] = rate);
        Ok(rates)
    }

    /// The course of each flow until an instant, if all have their max-min rates at all times.
    ///
    /// # Errors
    /// The solver found no optimum.
    pub fn courses(&self, demands: &[Demand], until: f64) -> Result<Vec<Course>, Unsolved> {
        let empty = Course { pieces: Vec::new(), end: f64::INFINITY };
        let mut courses = vec![empty; demands.len()];
        let mut left: Vec<f64> = demands.iter().map(|demand| demand.bits).collect();
        let mut starts: Vec<usize> = (0..demands.len()).collect();
        starts.sort_by(|a, b| demands[*a].start.total_cmp(&demands[*b].start));
        let (mut begun, mut running) = (0, Vec::<usize>::new());
        let changes = self.changes();
        let (mut now, mut epoch) = (0.0, self.epoch(0, 0.0));
        while now < until {
            let current = changes.iter().rposition(|at| *at <= now).unwrap_or(0);
            if current != epoch.number {
                epoch = self.epoch(current, now);
            }
            while begun < starts.len() && demands[starts[begun]].start <= now {
                running.push(starts[begun]);
                begun += 1;
            }
            let flows: Vec<&Demand> = running.iter().map(|flow| &demands[*flow]).collect();
            let rates = self.rates(&epoch, &flows)?;
            let next_start = starts.get(begun).map_or(until, |flow| demands[*flow].start);
            let next_change = changes.get(current + 1).copied().unwrap_or(until);
            let ends = running.iter().zip(&rates).filter(|(_, rate)| **rate > 0.0);
            let ends = ends.map(|(flow, rate)| now + left[*flow] / rate);
            let to = ends.fold(until.min(next_start).min(next_change), f64::min);
            for (flow, rate) in running.iter().zip(&rates) {
                courses[*flow].add(Piece { from: now, to, rate: *rate });
                left[*flow] -= rate * (to - now);
                // A remainder within the precision of the arithmetic.
                if left[*flow] <= demands[*flow].bits * 1e-9 && demands[*flow].bits.is_finite() {
                    (left[*flow], courses[*flow].end) = (0.0, to);
                }
            }
            running.retain(|flow| courses[*flow].end.is_infinite());
            now = to;
        }
        Ok(courses)
    }
}

/// Paths without pipes that cannot limit anything: each path over such a pipe takes another one
/// that is not faster. Few pipes make many flows alike, and programs small.
fn without_idle(rates: &[f64], mut groups: Vec<Paths>) -> Vec<Paths> {
    let mut pipes: Vec<usize> = groups.iter().flatten().flatten().copied().collect();
    pipes.sort_by(|a, b| rates[*b].total_cmp(&rates[*a]).then(a.cmp(b)));
    pipes.dedup();
    for pipe in pipes {
        let over = groups.iter().flatten().filter(|path| path.contains(&pipe));
        let mut others: Option<Vec<usize>> = None;
        for path in over {
            others = Some(match others {
                None => path
                    .iter()
                    .copied()
                    .filter(|other| *other != pipe && rates[*other] <= rates[pipe])
                    .collect(),
                Some(known) => known.into_iter().filter(|other| path.contains(other)).collect(),
            });
        }
        if others.is_some_and(|others| !others.is_empty()) {
            let paths = groups.iter_mut().flatten();
            paths.for_each(|path| path.retain(|other| *other != pipe));
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} is not {expected}");
    }

    fn lasting(start: f64, group: usize) -> Demand {
        Demand { start, bits: f64::INFINITY, cap: None, group }
    }

    #[test]
    fn a_capacity_that_falls_is_shared_at_all_times() {
        // 10 Mbit/s, from 2 s to 4 s 2 Mbit/s; one flow from 0 s, another from 1 s, until 5 s.
        let steps = vec![vec![(0.0, 10e6), (2.0, 2e6), (4.0, 10e6)]];
        let pipes = Pipes::new(steps, vec![vec![vec![0]]]);
        let courses = pipes.courses(&[lasting(0.0, 0), lasting(1.0, 0)], 5.0).unwrap();
        // 10 Mbit alone, 5 with the other, 2 in the trough, 5 after it; the other has 12.
        close(courses[0].bits(0.0, 5.0), 22e6);
        close(courses[1].bits(0.0, 5.0), 12e6);
        close(courses[1].bits(1.5, 3.0), 3.5e6);
    }

    #[test]
    fn short_flows_take_their_share_while_they_last() {
        // 10 Mbit/s: a flow of 5 Mbit beside a lasting one takes 1 s at half of the rate.
        let pipes = Pipes::new(vec![vec![(0.0, 10e6)]], vec![vec![vec![0]]]);
        let short = Demand { bits: 5e6, ..lasting(1.0, 0) };
        let courses = pipes.courses(&[lasting(0.0, 0), short], 4.0).unwrap();
        close(courses[1].end, 2.0);
        close(courses[0].bits(0.0, 4.0), 35e6);
        assert!(courses[0].end.is_infinite());
    }

    #[test]
    fn a_capped_flow_leaves_the_rest_to_others() {
        let pipes = Pipes::new(vec![vec![(0.0, 10e6)]], vec![vec![vec![0]]]);
        let slow = Demand { cap: Some(1e6), ..lasting(0.0, 0) };
        let courses = pipes.courses(&[slow, lasting(0.0, 0)], 1.0).unwrap();
        close(courses[0].bits(0.0, 1.0), 1e6);
        close(courses[1].bits(0.0, 1.0), 9e6);
        // One that asks for three times its share has its share.
        let fast = Demand { cap: Some(15e6), ..lasting(0.0, 0) };
        let courses = pipes.courses(&[fast, lasting(0.0, 0)], 1.0).unwrap();
        close(courses[0].bits(0.0, 1.0), 5e6);
    }

    #[test]
    fn a_path_that_is_down_carries_nothing() {
        // Two paths of 6 and 4 Mbit/s; the second is down from 1 s on.
        let steps = vec![vec![(0.0, 6e6)], vec![(0.0, 4e6), (1.0, 0.0)]];
        let pipes = Pipes::new(steps, vec![vec![vec![0], vec![1]]]);
        let courses = pipes.courses(&[lasting(0.0, 0)], 3.0).unwrap();
        close(courses[0].bits(0.0, 3.0), 10e6 + 12e6);
    }

    #[test]
    fn pipes_that_limit_nothing_are_left_out() {
        // Both paths take pipe 2, which is slower than their first pipes; pipe 3 is slower still,
        // but one path avoids it.
        let groups = vec![vec![vec![0, 2]], vec![vec![1, 2, 3]]];
        let found = without_idle(&[9e6, 9e6, 5e6, 1e6], groups);
        assert_eq!(found, [vec![vec![2]], vec![vec![2, 3]]]);
    }
}
