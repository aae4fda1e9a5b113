#!/usr/bin/env python3
"""Checks the files of --metrics with the parser of Prometheus's Python client: metrics.py THUMBS

Run it through Examples/serve.py, which serves http://icons.example/.
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

from prometheus_client.parser import text_string_to_metric_families

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "Examples"
thumbs = pathlib.Path(sys.argv.pop(1)).resolve()


class MetricsTest(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def fetch(self):
        """Fetches the examples, one of which fails, and returns the metrics by name."""
        page = self.directory / "thumbs.prom"
        result = subprocess.run([thumbs, "fetch", EXAMPLES / "apps.plist", "-q", "--metrics", page, "-o",
                                 self.directory / "out", "--cache-dir", self.directory / "cache"])
        self.assertEqual(result.returncode, 1)
        families = list(text_string_to_metric_families(page.read_text()))
        self.assertEqual(len(families), len({family.name for family in families}), "a metric occurs twice")
        return {family.name: family for family in families}

    def check(self, families):
        for family in families.values():
            self.assertIn(family.type, ("counter", "gauge", "histogram"), family.name)
            self.assertNotIn(family.documentation, ("", "A metric of thumbs."), family.name)
            for sample in family.samples:
                self.assertLess(len(sample.labels.get("code", "")), 32)
        for name in ("thumbs_queue_seconds", "thumbs_download_seconds", "thumbs_render_seconds"):
            samples = families[name].samples
            buckets = [sample.value for sample in samples if sample.name.endswith("_bucket")]
            self.assertEqual(buckets, sorted(buckets), name)
            self.assertEqual(buckets[-1], next(s.value for s in samples if s.name.endswith("_count")), name)

    def values(self, family, label):
        return {sample.labels[label]: sample.value for sample in family.samples}

    def test_runs(self):
        families = self.fetch()
        self.check(families)
        self.assertEqual(sum(self.values(families["thumbs_items"], "origin").values()), 17)
        self.assertEqual(self.values(families["thumbs_items"], "code")["http_404"], 1)
        # Two of the 16 rows have the same image.
        self.assertEqual(families["thumbs_renders"].samples[0].value, 15)
        families = self.fetch()
        self.check(families)
        self.assertEqual(self.values(families["thumbs_cache_hits"], "tier")["disk"], 16)
        self.assertEqual(families["thumbs_run_exit_code"].samples[0].value, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
