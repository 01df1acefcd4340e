//! Flows as fluids: without packets, headers, losses or control, which only take time.

use super::fair::max_min;
use super::program::{Program, Unsolved};

/// A direction of a link that carries Data, in a network of several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pipe {
    /// The sending node.
    pub from: usize,
    /// The receiving node.
    pub to: usize,
    /// Bits a second.
    pub rate: f64,
}

/// The largest rate at which these sources together can send to a node, over any paths.
///
/// # Errors
/// The solver found no optimum.
pub fn max_flow(pipes: &[Pipe], sources: &[usize], sink: usize) -> Result<f64, Unsolved> {
    if sources.contains(&sink) {
        return Ok(f64::INFINITY);
    }
    let scale = pipes.iter().map(|pipe| pipe.rate).fold(f64::MIN_POSITIVE, f64::max);
    let mut cost = vec![0.0; pipes.len()];
    for (pipe, net) in into(pipes, sink) {
        cost[pipe] = -net;
    }
    if cost.iter().all(|one| *one == 0.0) {
        return Ok(0.0);
    }
    let mut program = Program::minimise(cost);
    for (number, pipe) in pipes.iter().enumerate() {
        program.at_most(&[(number, 1.0)], pipe.rate / scale);
        program.at_least(&[(number, 1.0)], 0.0);
    }
    let nodes = pipes.iter().map(|pipe| pipe.from.max(pipe.to)).max().unwrap_or(0);
    for node in (0..=nodes).filter(|node| *node != sink && !sources.contains(node)) {
        // The outflow of a node equals its inflow.
        program.at_least(&into(pipes, node), 0.0);
    }
    let solution = program.solve()?;
    let flow: f64 = into(pipes, sink).iter().map(|(pipe, net)| solution[*pipe] * net).sum();
    Ok(flow * scale)
}

/// The pipes at a node: 1 for one into it, -1 for one out of it.
fn into(pipes: &[Pipe], node: usize) -> Vec<(usize, f64)> {
    let mut terms = Vec::new();
    for (number, pipe) in pipes.iter().enumerate() {
        let net = f64::from(pipe.to == node) - f64::from(pipe.from == node);
        if net != 0.0 {
            terms.push((number, net));
        }
    }
    terms
}

/// The earliest end of a job that needs `round_trip` seconds for its first bit and then transfers
/// `bits` at a varying rate: `rates` are instants with the rate from there, rising, the first one
/// at or before `start`.
#[must_use]
pub fn earliest_end(start: f64, round_trip: f64, bits: f64, rates: &[(f64, f64)]) -> f64 {
    let (mut now, mut left) = (start, bits);
    for (number, (from, rate)) in rates.iter().enumerate() {
        let until = rates.get(number + 1).map_or(f64::INFINITY, |next| next.0);
        let span = until - now.max(*from);
        if span <= 0.0 {
            continue;
        }
        if *rate > 0.0 && left <= rate * span {
            return now.max(*from) + left / rate + round_trip;
        }
        left -= rate * span;
        now = until;
    }
    f64::INFINITY
}

/// A transfer over one path.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its start.
    pub start: f64,
    /// Its size.
    pub bits: f64,
    /// The pipes that it takes.
    pub pipes: Vec<usize>,
}

/// When each job is over if all have their max-min fair rates at every instant.
///
/// # Errors
/// The solver found no optimum.
pub fn completion(rates: &[f64], jobs: &[Job]) -> Result<Vec<f64>, Unsolved> {
    let mut left: Vec<f64> = jobs.iter().map(|job| job.bits).collect();
    let mut ends = vec![f64::INFINITY; jobs.len()];
    let mut now = jobs.iter().map(|job| job.start).fold(f64::INFINITY, f64::min);
    loop {
        let running: Vec<usize> =
            (0..jobs.len()).filter(|job| jobs[*job].start <= now && left[*job] > 0.0).collect();
        let later = jobs.iter().map(|job| job.start).filter(|start| *start > now);
        let next_start = later.fold(f64::INFINITY, f64::min);
        if running.is_empty() {
            if next_start.is_infinite() {
                return Ok(ends);
            }
            now = next_start;
            continue;
        }
        let paths: Vec<Vec<Vec<usize>>> =
            running.iter().map(|job| vec![jobs[*job].pipes.clone()]).collect();
        let shares = max_min(rates, &paths)?;
        let spans = running.iter().zip(&shares).map(|(job, share)| left[*job] / share);
        let span = spans.fold(next_start - now, f64::min);
        if span.is_infinite() {
            return Ok(ends);
        }
        now += span;
        for (job, share) in running.iter().zip(&shares) {
            left[*job] -= share * span;
            // A remainder within the precision of the arithmetic.
            if left[*job] <= jobs[*job].bits * 1e-9 {
                (left[*job], ends[*job]) = (0.0, now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a program that cannot be solved must fail")]

    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} is not {expected}");
    }

    fn pipe(from: usize, to: usize, rate: f64) -> Pipe {
        Pipe { from, to, rate }
    }

    #[test]
    fn the_largest_flow_is_the_smallest_cut() {
        // A diamond: 3 and 5 over one side, 4 and 2 over the other; the cut is 3 + 2.
        let pipes = [pipe(0, 1, 3e6), pipe(1, 3, 5e6), pipe(0, 2, 4e6), pipe(2, 3, 2e6)];
        close(max_flow(&pipes, &[0], 3).unwrap(), 5e6);
        // From both nodes in the middle.
        close(max_flow(&pipes, &[1, 2], 3).unwrap(), 7e6);
        assert_eq!(max_flow(&pipes, &[3], 3).unwrap(), f64::INFINITY);
        assert_eq!(max_flow(&pipes[..1], &[0], 3).unwrap(), 0.0);
    }

    #[test]
    fn the_earliest_end_waits_for_what_is_down() {
        // 10 Mbit at 1 Mbit/s.
        close(earliest_end(2.0, 0.5, 10e6, &[(0.0, 1e6)]), 12.5);
        // Down from 4 s to 7 s, then ten times as fast: 2 Mbit before, 8 Mbit in 0.8 s.
        let rates = [(0.0, 1e6), (4.0, 0.0), (7.0, 10e6)];
        close(earliest_end(2.0, 0.5, 10e6, &rates), 8.3);
        assert!(earliest_end(0.0, 0.0, 1.0, &[(0.0, 0.0)]).is_infinite());
    }

    #[test]
    fn jobs_share_while_both_run() {
        // 10 Mbit each at 10 Mbit/s; the second begins half a second later. Half a second alone,
        // one second at half the rate each, then the second alone for half a second.
        let job = |start: f64| Job { start, bits: 10e6, pipes: vec![0] };
        let ends = completion(&[10e6], &[job(0.0), job(0.5)]).unwrap();
        close(ends[0], 1.5);
        close(ends[1], 2.0);
        // With a gap between them each is alone.
        let ends = completion(&[10e6], &[job(0.0), job(3.0)]).unwrap();
        close(ends[0], 1.0);
        close(ends[1], 4.0);
    }
}
