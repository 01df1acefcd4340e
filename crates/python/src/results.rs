//! The results of runs.

use crate::series::{self, Series};
use crate::table::{Table, failed};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use report::{Column, Summary, flow_columns};
use scenario::Batch;
use scenario::result::{
    Field, Flow, Kind, Link, MEASURES, Measure, Node, RunResult, SweepResult, SweptField, Value,
    Workload,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The results of the runs of a scenario.
#[pyclass(frozen, module = "weir._weir")]
pub struct Results {
    batch: Arc<Batch>,
    runs: Vec<RunResult>,
    swept: Vec<SweptField>,
    /// The series, until they are a table.
    series: Mutex<BTreeMap<usize, Series>>,
}

impl Results {
    pub fn new(
        batch: Arc<Batch>,
        runs: Vec<RunResult>,
        series: BTreeMap<usize, Series>,
    ) -> Results {
        let swept = SweptField::of(batch.runs.iter().map(|run| run.settings.as_slice()));
        Results { batch, runs, swept, series: Mutex::new(series) }
    }

    /// As `weir sim run --out` writes them.
    pub fn summary(batch: &Batch, runs: Vec<RunResult>) -> Option<Summary> {
        if batch.is_sweep {
            return Some(Summary::Sweep(SweepResult::new(&batch.name, batch.repetitions, runs)));
        }
        runs.into_iter().next_back().map(|run| Summary::Run(Box::new(run)))
    }

    /// The swept fields beside these fields: a field of that name has the value already.
    fn swept_beside<'a>(&'a self, fields: &'a [Field]) -> impl Iterator<Item = &'a SweptField> {
        self.swept.iter().filter(|swept| fields.iter().all(|field| field.name != swept.name))
    }

    /// The values that identify a run, in each of its rows.
    fn about(&self, number: usize, run: &RunResult, fields: &[Field]) -> Vec<Value> {
        let first = [Value::Count(number as u64), Value::Count(run.id.seed)];
        let swept = self.swept_beside(fields).map(|field| field.value(&run.id.settings));
        first.into_iter().chain(swept).collect()
    }

    /// A table of records, several for each run.
    fn records<T>(
        &self,
        fields: &[Field],
        of: fn(&RunResult) -> &[T],
        values: fn(&T) -> Vec<Value>,
    ) -> PyResult<Table> {
        let own = fields.iter().map(|field| Column {
            name: field.name.into(),
            kind: field.kind,
            optional: field.optional,
            help: field.help,
        });
        let columns: Vec<Column> = self.columns(fields).chain(own).collect();
        let rows = self.runs.iter().enumerate().flat_map(|(number, run)| {
            let about = self.about(number, run, fields);
            of(run)
                .iter()
                .map(move |record| about.iter().cloned().chain(values(record)).collect::<Vec<_>>())
        });
        Table::of_rows(&columns, rows).map_err(failed)
    }

    /// The columns that identify a run.
    fn columns<'a>(&'a self, fields: &'a [Field]) -> impl Iterator<Item = Column> {
        let about = flow_columns(&[]).into_iter().filter(|c| matches!(&*c.name, "run" | "seed"));
        about.chain(self.swept_beside(fields).map(Column::swept))
    }

    /// A row for each run.
    fn measures(&self) -> PyResult<Table> {
        let measured = MEASURES.iter().map(|measure| Column {
            name: measure.column.into(),
            kind: Kind::Number,
            optional: true,
            help: measure.help,
        });
        let end = Column {
            name: "interrupted".into(),
            kind: Kind::Switch,
            optional: false,
            help: "it was stopped before its end",
        };
        let columns: Vec<Column> = self.columns(&[]).chain(measured).chain([end]).collect();
        let rows = self.runs.iter().enumerate().map(|(number, run)| {
            let values =
                MEASURES.iter().map(|m| (m.get)(run).map_or(Value::Nothing, Value::Number));
            let end = [Value::Switch(run.interrupted)];
            self.about(number, run, &[]).into_iter().chain(values).chain(end).collect()
        });
        Table::of_rows(&columns, rows).map_err(failed)
    }
}

/// The columns of the table `runs` that are measures.
#[pyfunction]
pub fn measures() -> Vec<&'static str> {
    MEASURES.iter().map(|measure| measure.column).collect()
}

/// One of the tables without rows.
#[pyfunction]
pub fn empty_table(name: &str) -> PyResult<Table> {
    let batch = Batch { name: String::new(), runs: Vec::new(), repetitions: 1, is_sweep: false };
    Results::new(Arc::new(batch), Vec::new(), BTreeMap::new()).table(name)
}

/// The swept fields of runs with these settings: a column for each, a row for each run.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the argument is made for this call")]
pub fn swept_table(settings: Vec<Vec<(String, String)>>) -> PyResult<Table> {
    let swept = SweptField::of(settings.iter().map(Vec::as_slice));
    let columns: Vec<Column> = swept.iter().map(Column::swept).collect();
    let rows = settings.iter().map(|run| swept.iter().map(|field| field.value(run)).collect());
    Table::of_rows(&columns, rows).map_err(failed)
}

#[pymethods]
impl Results {
    /// One of the tables.
    fn table(&self, name: &str) -> PyResult<Table> {
        match name {
            "runs" => self.measures(),
            "flows" => self.records(Flow::FIELDS, |run| &run.flows, Flow::values),
            "links" => self.records(Link::FIELDS, |run| &run.links, Link::values),
            "nodes" => self.records(Node::FIELDS, |run| &run.nodes, Node::values),
            "workloads" => self.records(Workload::FIELDS, |run| &run.workloads, Workload::values),
            "series" => {
                let series = &mut *self.series.lock().unwrap_or_else(PoisonError::into_inner);
                series::table(std::mem::take(series), &self.swept, |run| {
                    let run = self.batch.runs.get(run);
                    run.map(|run| run.settings.clone()).unwrap_or_default()
                })
            }
            _ => Err(PyKeyError::new_err(format!("there is no table `{name}`"))),
        }
    }

    /// `summary.json` as `weir sim run --json` prints it.
    fn json(&self) -> PyResult<String> {
        let summary = Results::summary(&self.batch, self.runs.clone());
        Ok(serde_json::to_string(&summary).unwrap_or_default())
    }

    /// The measures: name in plots, column, label, unit, factor to that unit.
    #[getter]
    fn measures_of_plots(&self) -> Vec<(String, String, String, String, f64)> {
        let all = MEASURES.iter().map(|m| {
            let texts = [m.name, m.column, m.label, m.unit].map(str::to_owned);
            let [name, column, label, unit] = texts;
            (name, column, label, unit, m.factor)
        });
        all.collect()
    }

    /// Of a completion time, the flows of each run that finished, and those that began. Where not
    /// all finished, the measure is a lower bound. `None` for other measures.
    fn completed(&self, measure: &str) -> Option<Vec<[u64; 2]>> {
        let measure = Measure::find(measure)?;
        self.runs.iter().map(|run| measure.completed(&[run])).collect()
    }

    /// The unit of a swept field in plots, and the factor to it from the unit of tables.
    fn unit_of_swept(&self, name: &str) -> (&'static str, f64) {
        let field = self.swept.iter().find(|field| field.name == name);
        let Some((field, dimension)) = field.and_then(|field| Some((field, field.dimension?)))
        else {
            return ("", 1.0);
        };
        let numbers = self.runs.iter().filter_map(|run| match field.value(&run.id.settings) {
            Value::Number(number) => Some(number),
            _ => None,
        });
        let unit = dimension.unit(numbers.fold(0.0, f64::max));
        (unit.name, unit.factor)
    }

    /// The names of the swept fields.
    #[getter]
    fn swept(&self) -> Vec<String> {
        self.swept.iter().map(|field| field.name.clone()).collect()
    }

    #[getter]
    fn interrupted(&self) -> bool {
        self.runs.len() < self.batch.runs.len() || self.runs.iter().any(|run| run.interrupted)
    }

    fn __len__(&self) -> usize {
        self.runs.len()
    }
}
