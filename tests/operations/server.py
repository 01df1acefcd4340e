"""A Prometheus that watches what a test starts."""

import contextlib
import json
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import expressions
from support.children import Child, Failed, wait_until
from support.ports import free_port

CONFIGURATION = """
global: {{scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 250ms}}
rule_files: ["{rules}"]
scrape_configs:
  - job_name: weir
    static_configs: [{{targets: [{targets}]}}]
"""
PATIENCE = 60


class Prometheus:
    """One server with the committed rules, and nothing but the given targets."""

    def __init__(self, folder, targets):
        self.at = f"127.0.0.1:{free_port()}"
        config = Path(folder) / "prometheus.yml"
        listed = ", ".join(json.dumps(target) for target in targets)
        text = CONFIGURATION.format(rules=expressions.RULES, targets=listed)
        config.write_text(text, encoding="utf-8")
        argv = ["prometheus", f"--config.file={config}", f"--web.listen-address={self.at}"]
        argv.append(f"--storage.tsdb.path={Path(folder) / 'data'}")
        self.process = Child(argv, Path(folder) / "prometheus.log")
        try:
            wait_until(self._is_ready, "Prometheus to be ready", PATIENCE)
        except Failed:
            self.process.kill()
            raise

    def _is_ready(self):
        if not self.process.running:
            raise Failed(f"{self.process.name} ended\n{self.process.last_words()}")
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"http://{self.at}/-/ready", timeout=5) as answer:
                return answer.status == 200
        return False

    def get(self, path, **query):
        """The data of an answer of its interface."""
        url = f"http://{self.at}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as rejected:
            raise Failed(f"{query}: {rejected.read().decode()}") from None

    def ask(self, expression):
        """The samples that an expression has now, without those that are no numbers."""
        samples = self.get("query", query=expression)["result"]
        return [sample for sample in samples if sample["value"][1] != "NaN"]

    def alerts(self):
        """Pairs of an alert that waits or fires, and the face or forwarder of which it does."""
        return {
            (alert["labels"]["alertname"], alert["labels"].get("uri", ""))
            for alert in self.get("alerts")["alerts"]
        }

    def stop(self):
        """End it."""
        self.process.kill()
