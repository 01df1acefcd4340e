//! Convex programs in the form of the solver: minimise `q x` where `b - A x` lies in cones.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, SupportedConeT,
};

/// A linear or conic program could not be solved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the solver ended with {0}")]
pub struct Unsolved(pub String);

/// A program that is being written.
pub struct Program {
    cost: Vec<f64>,
    entries: (Vec<usize>, Vec<usize>, Vec<f64>),
    bounds: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Program {
    /// A program that minimises this cost.
    pub fn minimise(cost: Vec<f64>) -> Program {
        let entries = (Vec::new(), Vec::new(), Vec::new());
        Program { cost, entries, bounds: Vec::new(), cones: Vec::new() }
    }

    fn row(&mut self, terms: &[(usize, f64)], bound: f64) {
        let row = self.bounds.len();
        for (column, factor) in terms {
            self.entries.0.push(row);
            self.entries.1.push(*column);
            self.entries.2.push(*factor);
        }
        self.bounds.push(bound);
    }

    /// The sum of the terms is at most the bound.
    pub fn at_most(&mut self, terms: &[(usize, f64)], bound: f64) {
        self.row(terms, bound);
        self.cones.push(NonnegativeConeT(1));
    }

    /// The sum of the terms is at least the bound.
    pub fn at_least(&mut self, terms: &[(usize, f64)], bound: f64) {
        let negative: Vec<_> = terms.iter().map(|(column, factor)| (*column, -factor)).collect();
        self.at_most(&negative, -bound);
    }

    /// The logarithm of the sum of the terms is at least the variable.
    pub fn logarithm(&mut self, variable: usize, of: &[(usize, f64)]) {
        let negative: Vec<_> = of.iter().map(|(column, factor)| (*column, -factor)).collect();
        self.row(&[(variable, -1.0)], 0.0);
        self.row(&[], 1.0);
        self.row(&negative, 0.0);
        self.cones.push(SupportedConeT::ExponentialConeT());
    }

    /// The variables at the optimum.
    pub fn solve(self) -> Result<Vec<f64>, Unsolved> {
        let (rows, columns) = (self.bounds.len(), self.cost.len());
        let none = CscMatrix::zeros((columns, columns));
        let (i, j, values) = self.entries;
        let matrix = CscMatrix::new_from_triplets(rows, columns, i, j, values);
        let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
        let mut solver =
            DefaultSolver::new(&none, &self.cost, &matrix, &self.bounds, &self.cones, settings)
                .map_err(|error| Unsolved(error.to_string()))?;
        solver.solve();
        match solver.solution.status {
            SolverStatus::Solved | SolverStatus::AlmostSolved => Ok(solver.solution.x),
            other => Err(Unsolved(format!("{other:?}"))),
        }
    }
}
