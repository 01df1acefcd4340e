"""Tables for a terminal: numbers to the right, units in the head, each row printed at once."""


def number(value, digits=3):
    """A number with three significant digits; a dash where there is none."""
    if value is None:
        return "-"
    if isinstance(value, int) or value == 0:
        return str(int(value))
    whole = len(str(int(abs(value))))
    return f"{value:.{max(0, digits - whole)}f}" if abs(value) >= 1 else f"{value:.{digits}g}"


class Table:
    """A table whose rows are printed as they come."""

    def __init__(self, title, first, *columns, width=34):
        print(f"\n{title}")
        self._width = width
        self._columns = columns
        heads = "".join(f"  {head}" for head in columns)
        print(f"  {first:<{width}}{heads}", flush=True)

    def row(self, label, *values):
        """One row: a label and a value for each column. Text is printed unchanged."""
        cells = (value if isinstance(value, str) else number(value) for value in values)
        fields = (f"  {cell:>{len(head)}}" for cell, head in zip(cells, self._columns))
        print(f"  {label:<{self._width}}{''.join(fields)}", flush=True)

    def failed(self, label, error):
        """A row for a failure: the first line of the reason, the rest below it."""
        first, *rest = str(error).splitlines() or ["failed"]
        print("\n".join([f"  {label:<{self._width}}  failed: {first}", *rest]), flush=True)

    def note(self, text):
        """A line under the table."""
        print(f"  {text}", flush=True)
