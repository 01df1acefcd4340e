"""Results: Arrow tables, data frames, plots."""

import json
from functools import cached_property
from html import escape


class Table:
    """A table in memory.

    It has the Arrow PyCapsule interface, so that `pyarrow.table(t)`, `polars.DataFrame(t)`,
    `pandas.DataFrame.from_arrow(t)` and `duckdb` read it without a copy.
    """

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self):
        return self._table.__arrow_c_schema__()

    def __len__(self):
        return len(self._table)

    @property
    def columns(self):
        """The meaning of each column, by its name."""
        return {name: help for name, _, help in self._table.columns}

    def to_arrow(self):
        """The table as a `pyarrow.Table`."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self):
        """The table as a `pandas.DataFrame`."""
        return self.to_arrow().to_pandas()

    def to_polars(self):
        """The table as a `polars.DataFrame`."""
        import polars

        return polars.DataFrame(self)

    def __repr__(self):
        return f"<weir.Table: {len(self)} rows; columns {', '.join(self.columns)}>"

    def _repr_html_(self):
        rows = [
            f"<tr><td><code>{escape(name)}</code></td><td>{escape(kind)}</td>"
            f"<td>{escape(help)}</td></tr>"
            for name, kind, help in self._table.columns
        ]
        head = "<tr><th>column</th><th>type</th><th>meaning</th></tr>"
        return f"<p>{len(self):,} rows</p><table>{head}{''.join(rows)}</table>"


class Results:
    """The results of the runs of a scenario.

    `runs`, `flows`, `links`, `nodes`, `workloads` and `series` are tables. The columns `run` and
    `seed`, and one for each field that a sweep set, identify the run of a row.
    """

    def __init__(self, results, scenario):
        self._results = results
        self.scenario = scenario

    @cached_property
    def runs(self):
        """One row for each run: its measures."""
        return Table(self._results.table("runs"))

    @cached_property
    def flows(self):
        """One row for each flow of each run."""
        return Table(self._results.table("flows"))

    @cached_property
    def links(self):
        """One row for each direction of each link."""
        return Table(self._results.table("links"))

    @cached_property
    def nodes(self):
        """One row for each node."""
        return Table(self._results.table("nodes"))

    @cached_property
    def workloads(self):
        """One row for each class of flows of each workload."""
        return Table(self._results.table("workloads"))

    @cached_property
    def series(self):
        """Samples over time: `time_s`, `kind`, `entity`, `quantity`, `value`."""
        return Table(self._results.table("series"))

    @cached_property
    def summary(self):
        """The object that `weir sim run --json` prints."""
        return json.loads(self._results.json())

    def table(self, name):
        """One of the tables, by its name."""
        return getattr(self, name)

    @property
    def interrupted(self):
        """True if a run was stopped before its end."""
        return self._results.interrupted

    @property
    def swept(self):
        """The fields that a sweep set."""
        return self._results.swept

    def plot(self, quantity="goodput", /, *, kind="flow", ax=None, run=None):
        """Plot a quantity over time, with the colours of the report.

        `quantity` is a name in `series`, or its beginning: `"window"`, `"goodput"`, `"queue"`.
        Returns the axes of matplotlib.
        """
        from ._plots import over_time

        return over_time(self, quantity, kind, ax, run)

    def plot_sweep(self, x, y="settled-goodput", /, *, ax=None):
        """Plot a measure of the runs of a sweep over a swept field. Returns the axes.

        `y` is the name of a measure, as `weir plot --y` takes it, or its column in `runs`. An
        unfinished flow counts in completion times with the time that it had: a mean is a lower
        bound where flows did not finish, and there is none where no flow did.
        """
        from ._plots import over_sweep

        return over_sweep(self, x, y, ax)

    def __len__(self):
        return len(self._results)

    def __repr__(self):
        runs = "1 run" if len(self) == 1 else f"{len(self)} runs"
        state = ", interrupted" if self.interrupted else ""
        flows = "1 flow" if len(self.flows) == 1 else f"{len(self.flows)} flows"
        return f"<weir.Results {self.scenario.name}: {runs}, {flows}{state}>"

    def _repr_html_(self):
        from ._html import results

        return results(self)
