# SPDX-License-Identifier: BSD-3-Clause
"""points_replay (tools/measure) on sets whose times follow a law."""
import json
import os
import subprocess
import unittest

from support import CommandTest

REPLAY = os.environ["SEXTANT_POINTS_REPLAY"]


def measured(slower=1):
    """Three families of ten sizes; launches and bytes, the bytes of each family in rows of another length; 2 % of noise."""
    samples = []
    for family in range(1, 4):
        for step in range(10):
            size, noise = 1000 * 3**step * family, 1 + 0.02 * ((7 * family + 5 * step) % 11 - 5) / 5
            seconds = slower * noise * (2e-7 + 3e-11 * size + 1e-11 * size / family)
            samples.append({"matrix": f"family {family}, {step}", "family": family, "entries": size / 8, "working_set_bytes": size,
                            "measured_s": seconds, "before_s": seconds, "spent_s": 0.03 + size * 1e-8, "analytic_s": [1e-7, 2e-11, 2e-11],
                            "terms": {"launches": 1, "stream_bytes": size, "flops": size / family}})  # fmt: skip
    terms = [{"term": term} for term in ("launches", "stream_bytes", "flops")]
    return json.dumps({"kernel": "made.up", "vector_type": "f64", "model": {"coefficients": terms}, "samples": samples})


class Replay(CommandTest):
    def replay(self, *files, code=0):
        done = subprocess.run([REPLAY, *files], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout.splitlines()[2:]

    def test_a_law_needs_few_points(self):
        (row,) = self.replay(self.file("a.json", measured()))
        _, kernel, points, _, share, seconds, *_ = (cell.strip() for cell in row.split("|"))
        self.assertEqual((kernel, points), ("made.up, f64", "30"))
        self.assertLessEqual(int(share.split()[0]), 60)
        self.assertLessEqual(int(seconds.split()[0]), int(share.split()[0]))  # cheap points first

    def test_each_point_keeps_its_least_time_of_all_rounds(self):
        quick, slow = self.file("quick.json", measured()), self.file("slow.json", measured(3))
        self.assertEqual(*self.replay(quick, f"{slow},{quick}"))

    def test_what_is_no_set(self):
        self.assertIn("usage", self.replay(code=2))
        for text in ("nothing", "{}", '{"samples": 3}'):
            self.assertIn("points_replay: ", self.replay(self.file("bad.json", text), code=1))


if __name__ == "__main__":
    unittest.main()
