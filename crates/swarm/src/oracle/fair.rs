//! Fair rates of flows over fixed paths.

use super::program::{Program, Unsolved};

/// Rates closer than this share of one another are equal: the solver's tolerance is 1e-8 of the
/// largest rate, and rates differ by four decades.
const EQUAL: f64 = 1e-4;

/// The variables of the programs: each flow has one for each of its paths.
struct Shares<'a> {
    rates: &'a [f64],
    scale: f64,
    paths: &'a [Vec<Vec<usize>>],
    /// The first variable of each flow.
    first: Vec<usize>,
    variables: usize,
}

impl<'a> Shares<'a> {
    fn new(rates: &'a [f64], paths: &'a [Vec<Vec<usize>>]) -> Shares<'a> {
        let first = paths.iter().scan(0, |next, of| {
            let first = *next;
            *next += of.len();
            Some(first)
        });
        let scale = rates.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let variables = paths.iter().map(Vec::len).sum();
        Shares { rates, scale, paths, first: first.collect(), variables }
    }

    /// The terms that sum up to the rate of a flow.
    fn flow(&self, flow: usize) -> Vec<(usize, f64)> {
        (0..self.paths[flow].len()).map(|path| (self.first[flow] + path, 1.0)).collect()
    }

    /// No pipe carries more than its rate, and no path less than zero.
    fn limit(&self, program: &mut Program) {
        for (pipe, rate) in self.rates.iter().enumerate() {
            let mut terms = Vec::new();
            for (flow, paths) in self.paths.iter().enumerate() {
                for (path, pipes) in paths.iter().enumerate() {
                    if pipes.contains(&pipe) {
                        terms.push((self.first[flow] + path, 1.0));
                    }
                }
            }
            if !terms.is_empty() {
                program.at_most(&terms, rate / self.scale);
            }
        }
        (0..self.variables).for_each(|variable| program.at_least(&[(variable, 1.0)], 0.0));
    }
}

/// The max-min fair rates: no flow can get more without reducing a flow that has no more. `rates`
/// are those of the pipes; each flow has paths, each of them a list of pipes.
///
/// By linear programs: the largest rate that all flows can have, then, for the flows that can have
/// more, the next one, and so on (D. Bertsekas, R. Gallager, Data Networks, section 6.5.2).
///
/// # Errors
/// The solver found no optimum.
pub fn max_min(rates: &[f64], paths: &[Vec<Vec<usize>>]) -> Result<Vec<f64>, Unsolved> {
    let shares = Shares::new(rates, paths);
    let mut fixed: Vec<Option<f64>> = paths.iter().map(|of| of.is_empty().then_some(0.0)).collect();
    while fixed.iter().any(Option::is_none) {
        let least = common(&shares, &fixed)?;
        let open: Vec<usize> = (0..paths.len()).filter(|flow| fixed[*flow].is_none()).collect();
        let mut most = Vec::new();
        for flow in &open {
            most.push(alone(&shares, &fixed, *flow, least)?);
        }
        // Flows at their limit; the solver's tolerance must leave at least one.
        let smallest = most.iter().copied().fold(f64::INFINITY, f64::min);
        let bound = smallest.max(least) * (1.0 + EQUAL);
        for (flow, most) in open.iter().zip(&most) {
            if *most <= bound {
                fixed[*flow] = Some(least);
            }
        }
    }
    Ok(fixed.into_iter().map(|rate| rate.unwrap_or(0.0) * shares.scale).collect())
}

/// Flows whose rate is fixed have at least that, but for the solver's tolerance.
fn keep(shares: &Shares<'_>, fixed: &[Option<f64>], least: f64, program: &mut Program) {
    for (flow, rate) in fixed.iter().enumerate() {
        let rate = rate.unwrap_or(least) * (1.0 - 1e-7);
        if !shares.paths[flow].is_empty() {
            program.at_least(&shares.flow(flow), rate);
        }
    }
}

/// The largest rate that all flows can have whose rate is not fixed.
fn common(shares: &Shares<'_>, fixed: &[Option<f64>]) -> Result<f64, Unsolved> {
    let common = shares.variables;
    let mut cost = vec![0.0; common + 1];
    cost[common] = -1.0;
    let mut program = Program::minimise(cost);
    shares.limit(&mut program);
    keep(shares, fixed, 0.0, &mut program);
    for (flow, _) in fixed.iter().enumerate().filter(|(_, rate)| rate.is_none()) {
        let mut terms = shares.flow(flow);
        terms.push((common, -1.0));
        program.at_least(&terms, 0.0);
    }
    Ok(program.solve()?[common].max(0.0))
}

/// The largest rate of one flow while all others have at least `least`, or their fixed rate.
fn alone(
    shares: &Shares<'_>,
    fixed: &[Option<f64>],
    flow: usize,
    least: f64,
) -> Result<f64, Unsolved> {
    let mut cost = vec![0.0; shares.variables];
    shares.flow(flow).iter().for_each(|(variable, _)| cost[*variable] = -1.0);
    let mut program = Program::minimise(cost);
    shares.limit(&mut program);
    keep(shares, fixed, least, &mut program);
    let solution = program.solve()?;
    Ok(shares.flow(flow).iter().map(|(variable, _)| solution[*variable]).sum())
}

/// The proportionally fair rates: their logarithms have the largest sum (F. Kelly, A. Maulloo,
/// D. Tan, Rate Control for Communication Networks, 1998).
///
/// # Errors
/// The solver found no optimum.
pub fn proportional(rates: &[f64], paths: &[Vec<Vec<usize>>]) -> Result<Vec<f64>, Unsolved> {
    let shares = Shares::new(rates, paths);
    let flows: Vec<usize> = (0..paths.len()).filter(|flow| !paths[*flow].is_empty()).collect();
    let mut cost = vec![0.0; shares.variables + flows.len()];
    cost[shares.variables..].fill(-1.0);
    let mut program = Program::minimise(cost);
    shares.limit(&mut program);
    for (number, flow) in flows.iter().enumerate() {
        program.logarithm(shares.variables + number, &shares.flow(*flow));
    }
    let solution = program.solve()?;
    let mut rates = Vec::new();
    for flow in 0..paths.len() {
        let terms = shares.flow(flow);
        let sum: f64 = terms.iter().map(|(variable, _)| solution[*variable]).sum();
        rates.push(sum * shares.scale);
    }
    Ok(rates)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a program that cannot be solved must fail")]

    use super::*;

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} is not {expected}");
        }
    }

    fn single(paths: &[&[usize]]) -> Vec<Vec<Vec<usize>>> {
        paths.iter().map(|path| vec![path.to_vec()]).collect()
    }

    #[test]
    fn a_parking_lot_distinguishes_the_two_fairnesses() {
        // One flow over two pipes, one flow over each: max-min gives a half to all, proportional
        // fairness a third to the long one and two thirds to the others.
        let paths = single(&[&[0, 1], &[0], &[1]]);
        close(&max_min(&[10e6, 10e6], &paths).unwrap(), &[5e6, 5e6, 5e6]);
        let third = 10e6 / 3.0;
        let rates = proportional(&[10e6, 10e6], &paths).unwrap();
        close(&rates, &[third, 2.0 * third, 2.0 * third]);
    }

    #[test]
    fn max_min_fills_what_the_first_bottleneck_leaves() {
        // Bertsekas and Gallager's kind of example: two flows share 2 Mbit/s, the third has the
        // rest of 100 Mbit/s, four decades from the smallest rate.
        let paths = single(&[&[0], &[0, 1], &[1], &[2]]);
        let rates = max_min(&[2e6, 100e6, 1e5], &paths).unwrap();
        close(&rates, &[1e6, 1e6, 99e6, 1e5]);
    }

    #[test]
    fn two_paths_are_used_together() {
        // Flow 0 has a second, private pipe: flow 1 gets all of the shared one except the part that
        // equalises both.
        let paths = vec![vec![vec![0], vec![1]], vec![vec![0]]];
        close(&max_min(&[8e6, 2e6], &paths).unwrap(), &[5e6, 5e6]);
        close(&proportional(&[8e6, 2e6], &paths).unwrap(), &[5e6, 5e6]);
    }

    #[test]
    fn max_min_by_programs_is_that_by_filling() {
        // The other known algorithm, for single paths: the pipe with the smallest share per flow
        // fixes its flows.
        let rates: [f64; 5] = [3e6, 7e6, 1e6, 20e6, 4e6];
        let all: [&[usize]; 6] = [&[0, 1], &[1, 3], &[2, 3, 4], &[4], &[0, 4], &[3]];
        let mut left = rates;
        let mut filled = [None; 6];
        while filled.iter().any(Option::is_none) {
            let open = |pipe: usize, filled: &[Option<f64>; 6]| {
                (0..6).filter(|f| filled[*f].is_none() && all[*f].contains(&pipe)).count()
            };
            let share = |pipe: usize| left[pipe] / open(pipe, &filled) as f64;
            let pipes = (0..5).filter(|pipe| open(*pipe, &filled) > 0);
            let tight = pipes.min_by(|a, b| share(*a).total_cmp(&share(*b))).unwrap();
            let rate = share(tight);
            for flow in (0..6).filter(|f| all[*f].contains(&tight)) {
                if filled[flow].is_none() {
                    filled[flow] = Some(rate);
                    all[flow].iter().for_each(|pipe| left[*pipe] -= rate);
                }
            }
        }
        let expected: Vec<f64> = filled.iter().map(|rate| rate.unwrap()).collect();
        close(&max_min(&rates, &single(&all)).unwrap(), &expected);
    }

    #[test]
    fn a_flow_without_a_path_has_nothing() {
        assert_eq!(max_min(&[1e6], &[vec![]]).unwrap(), [0.0]);
    }
}
