"""Networks and daemons that tests and benchmarks start first."""

import contextlib


class Stage(contextlib.ExitStack):
    """Enters what `_build` enters; all of it goes with the block, or if building fails."""

    def __enter__(self):
        try:
            self._build()
        except BaseException:
            self.close()
            raise
        return self

    def _build(self):
        raise NotImplementedError
