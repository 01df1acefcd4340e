"""Points of a sweep on a cluster: tasks of about half a minute each, repeated if a worker dies."""

import math
import pickle
import time
from collections import deque

from . import _worker
from ._errors import RunError, WeirError

# The intended duration of a task in seconds: shorter tasks would cost more in transport, and with
# longer ones more would be lost with a worker.
TASK_SECONDS = 30.0
# Tasks for each place of the cluster, so that none waits for this program.
TASKS_EACH = 2
# A point that was lost this number of times with its worker may be the reason.
ATTEMPTS = 3
# The time, in seconds, for which a cluster may be without workers.
EMPTY_SECONDS = 60.0
# The interval, in seconds, at which progress is shown and a signal noticed.
TURN = 0.2


class Cluster:
    """Runs the points that a sweep, or the runs that a study lacks, on an engine."""

    def __init__(self, engine, made, points, patience):
        self.engine, self.made, self.patience = engine, made, patience
        left = made._left(points)
        self.count = len(points)
        self.points = {point.key: point for point in left}
        self.left, self.alone = deque(self.points), deque()
        self.attempts = dict.fromkeys(self.points, 0)
        # The keys of each task under way.
        self.running = {}
        # Points that have ended here, and the seconds that they took.
        self.ended, self.seconds = 0, 0.0
        self.filled_at = time.monotonic()

    def run(self, tick):
        """Run them all, and show progress."""
        made = self.made
        # A sequential design has points of former rounds too.
        before = self.count - len(self.points) - made.new - len(made._failed)
        try:
            while self.left or self.alone or self.running:
                self.submit()
                if not self.running:
                    # There is no worker; engines wait for tasks only.
                    time.sleep(TURN)
                    continue
                for handle in self.engine.wait(self.running, TURN):
                    self.collect(handle, self.running.pop(handle))
                ended = before + made.new + len(made._failed)
                tick(ended / self.count, ended)
        finally:
            self.engine.cancel(self.running)

    def submit(self):
        """Give the cluster as many tasks as it has places for."""
        places, now = self.engine.workers(), time.monotonic()
        if places:
            self.filled_at = now
        elif now - self.filled_at > EMPTY_SECONDS:
            raise WeirError(
                f"the cluster has had no worker for {EMPTY_SECONDS:.0f} s; the same call runs the "
                "points that are left"
            )
        while (self.left or self.alone) and len(self.running) < TASKS_EACH * places:
            keys = self.next_keys(places)
            task = self.made._pack([self.points[key] for key in keys], self.patience)
            self.running[self.engine.submit(task)] = keys

    def next_keys(self, places):
        """The points of the next task. Those that were lost with a worker are alone in theirs."""
        if self.alone:
            return [self.alone.popleft()]
        # The first tasks tell how long a point takes, and the last ones end together.
        fits = TASK_SECONDS * self.ended / self.seconds if self.seconds else 1
        share = math.ceil(len(self.left) / (TASKS_EACH * places))
        return [self.left.popleft() for _ in range(max(1, min(int(fits), share)))]

    def collect(self, handle, keys):
        """Keep what a task has brought."""
        try:
            answers = pickle.loads(self.engine.result(handle))
        except self.engine.LOST as error:
            self.lose(keys, error)
            return
        except _worker.OtherVersion as error:
            raise WeirError(str(error)) from None
        except ModuleNotFoundError as error:
            raise WeirError(f"a worker has no module `{error.name}`; install it there") from error
        for answer in answers:
            self.ended, self.seconds = self.ended + 1, self.seconds + answer.seconds
            if (error := answer.exception()) is not None:
                self.fail(answer.key, error)
            else:
                self.made._keep(self.points[answer.key], answer)
                self.made.new += 1

    def lose(self, keys, error):
        """Repeat the points of a task whose worker is gone."""
        for key in keys:
            self.attempts[key] += 1
            if self.attempts[key] < ATTEMPTS:
                self.alone.append(key)
                continue
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            text = f"its worker ended {ATTEMPTS} times; the last time: {reason}"
            self.fail(key, RunError(text))

    def fail(self, key, error):
        self.made._fail(self.points[key], error)
