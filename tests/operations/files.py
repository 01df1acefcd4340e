"""The dashboard and the rules as files: Prometheus and Grafana's own schema accept them."""

import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import expressions
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard


def differences(given, read, path=""):
    """Paths of what is in `given` and is not, or is another thing, in `read`."""
    if isinstance(given, dict) and isinstance(read, dict):
        for key, value in given.items():
            yield from differences(value, read.get(key), f"{path}/{key}")
    elif isinstance(given, list) and isinstance(read, list) and len(given) == len(read):
        for number, pair in enumerate(zip(given, read)):
            yield from differences(*pair, f"{path}/{number}")
    elif given != read:
        yield f"{path}: {given!r}"


def unknown(dashboard):
    """Fields of a dashboard that Grafana's types of a dashboard and its panels do not have."""
    register_default_plugins()
    read = JSONEncoder(sort_keys=True).encode(Dashboard.from_json(dashboard))
    return list(differences(dashboard, json.loads(read)))


def promtool(*arguments):
    """Status and output of Prometheus' own checker."""
    argv = ["promtool", *map(str, arguments)]
    given = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "timeout": 60}
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False, **given)
    return done.returncode, done.stdout


class Rules(unittest.TestCase):
    """The alert rules."""

    def test_prometheus_accepts_them(self):
        """promtool finds no mistake, and each alert has a test."""
        status, text = promtool("check", "rules", expressions.RULES)
        self.assertEqual(status, 0, text)
        tests = expressions.RULE_TESTS.read_text(encoding="utf-8")
        for alert in expressions.of_alerts():
            self.assertIn(f"alertname: {alert}\n", tests)

    def test_alerts_are_raised_beyond_their_limits_and_not_at_them(self):
        """promtool's tests of the rules pass, and fail if a limit is another."""
        status, text = promtool("test", "rules", expressions.RULE_TESTS)
        self.assertEqual(status, 0, text)
        with tempfile.TemporaryDirectory(prefix="weir-") as folder:
            rules = expressions.RULES.read_text(encoding="utf-8")
            rules = re.sub(r"> [\d.]+$", "> 1000000", rules, flags=re.MULTILINE)
            rules = re.sub(r"< [\d.]+$", "< -1", rules, flags=re.MULTILINE)
            tests = shutil.copy(expressions.RULE_TESTS, folder)
            (Path(folder) / expressions.RULES.name).write_text(rules, encoding="utf-8")
            status, text = promtool("test", "rules", tests)
        self.assertEqual(status, 1, text)
        failed = set(re.findall(r"alertname: (\w+)", text))
        self.assertEqual(failed, set(expressions.of_alerts()))


class Panels(unittest.TestCase):
    """The dashboard."""

    def test_grafana_knows_every_field(self):
        """Grafana's published types read it and write it again without a loss."""
        self.assertEqual(unknown(expressions.dashboard()), [])
        wrong = expressions.dashboard()
        wrong["panels"][1]["options"]["colourMode"] = "value"
        self.assertEqual(unknown(wrong), ["/panels/1/options/colourMode: 'value'"])

    def test_panels_have_places_of_their_own(self):
        """No two panels have the same number or overlap."""
        every = expressions.dashboard()["panels"]
        self.assertEqual(len({panel["id"] for panel in every}), len(every))
        taken = {}
        for panel in every:
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24)
            for x in range(at["x"], at["x"] + at["w"]):
                for y in range(at["y"], at["y"] + at["h"]):
                    other = taken.setdefault((x, y), panel["title"])
                    self.assertEqual(other, panel["title"])
