"""The expressions of the committed dashboard and alert rules."""

import json
import re
from pathlib import Path

import yaml

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
DASHBOARD = PACKAGING / "grafana/weir.json"
RULES = PACKAGING / "prometheus/weir.rules.yml"
RULE_TESTS = PACKAGING / "prometheus/weir.test.yml"

# Values for Grafana's variables: every face of every forwarder.
VARIABLES = {"$job": ".*", "$instance": ".*", "$uri": ".*", "$__rate_interval": "1m"}
LIMIT = re.compile(r"\s+[<>]\s+[\d.]+(?=\s|$)")


def dashboard():
    """The dashboard as it is imported."""
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))


def panels():
    """The panels that show something."""
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def of_panels():
    """Pairs of a panel's title and an expression, with values for Grafana's variables."""
    for panel in panels():
        for target in panel["targets"]:
            expression = target["expr"]
            for variable, value in VARIABLES.items():
                expression = expression.replace(variable, value)
            yield panel["title"], expression


def of_alerts():
    """The expression of each alert by its name."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return {rule["alert"]: rule["expr"] for group in groups for rule in group["rules"]}


def without_limit(expression):
    """The sides of an alert's comparisons, without their limits."""
    measured, found = LIMIT.subn("", expression)
    assert found > 0, f"{expression} has no limit"
    return measured
