# SPDX-License-Identifier: BSD-3-Clause
"""sextant explain --members: what so many members would take, by models alone; and bench published."""
import unittest

from support import NOT_SOLVED, USAGE, CommandTest, coordinate, grid

NETWORK = ("--network", "2e-6,1e10")


class Members(CommandTest):
    def prices(self, *arguments):
        report, _ = self.run_json("explain", *arguments)
        return report, {each["members"]: each for each in report["members"]}

    def test_members_of_a_grid(self):
        report, prices = self.prices("--generate", "stencil-3d", "--n", "64000", "--members", "4,64", *NETWORK)
        self.assertEqual(report["network"], {"latency_s": 2e-6, "bytes_per_second": 1e10})
        self.assertEqual(sorted(prices), [1, 4, 64])
        self.assertEqual(prices[1]["halo_values"], 0)
        self.assertEqual(prices[1]["speed_up"], 1)
        self.assertEqual(prices[4]["halo_values"], 2 * 1600)  # a plane of 40 x 40 on two sides
        for members, each in prices.items():
            self.assertAlmostEqual(each["rows"], 64000 / members, delta=0.2 * 64000 / members)
            least = min(each["classical_s"], each["chronopoulos_gear_s"], each["pipelined_s"])
            self.assertAlmostEqual(each["speed_up"], min(prices[1][k] for k in ("classical_s", "chronopoulos_gear_s", "pipelined_s")) / least, places=9)
            self.assertGreaterEqual(each["as_built_s"], each["chronopoulos_gear_s"])
        # Two sums for four members are four messages, one after the other.
        self.assertAlmostEqual(prices[4]["sum_s"], 2 * (2e-6 + 24 / 1e10), places=12)

    def test_a_slow_network_hides_its_sums(self):
        _, slow = self.prices("--generate", "stencil-3d", "--n", "64000", "--members", "64", "--network", "1e-3,1e10")
        self.assertEqual(slow[64]["soonest"], "pipelined")
        self.assertLess(slow[64]["speed_up"], 1)

    def test_text(self):
        text = self.run_command("explain", "--generate", "stencil-2d", "--n", "900", "--members", "9", *NETWORK).stdout
        for word in ("members", "chronopoulos-gear", "pipelined", "speed-up", "soonest"):
            self.assertIn(word, text)

    def test_usage(self):
        a = self.file("a.mtx", grid(4))
        self.assert_fails("explain", a, "--members", "2", expect=USAGE, says="go together")
        self.assert_fails("explain", a, *NETWORK, expect=USAGE, says="go together")
        for network in ("1", "x,y", "1e-6,0", "-1,1e9", "1e-6,1e9,3", "nan,1e9"):
            self.assert_fails("explain", a, "--members", "2", f"--network={network}", expect=USAGE, says="LATENCY,RATE")
        self.assert_fails("explain", a, "--members", "17", *NETWORK, expect=USAGE, says="17 members, but the matrix has 16 rows")
        self.assert_fails("explain", a, "--members", "2", *NETWORK, "--op", "spmv", expect=USAGE, says="no effect with --members")
        wide = self.file("wide.mtx", coordinate(2, 3, [(1, 1, 1), (2, 3, 1)]))
        self.assert_fails("explain", wide, "--members", "2", *NETWORK, expect=NOT_SOLVED, says="square")


class Published(CommandTest):
    def test_every_figure_has_a_number_or_a_reason(self):
        report, _ = self.run_json("bench", "published", "--n", "1000", "--systems", "2", "--orders", "12,20", "--repeat", "1", "--threads", "1")
        sources = {figure["source"] for figure in report["figures"]}
        self.assertEqual(len(sources), 5)
        for figure in report["figures"]:
            self.assertTrue(figure["ours"] is not None or len(figure["why"]) > 20, figure)
            self.assertTrue(figure["published"])
        pcg = report["figures"][0]
        self.assertEqual(len(pcg["cases"]), 4)
        for case in pcg["cases"]:
            self.assertAlmostEqual(case["ratio"], case["textbook_seconds"] / case["seconds"], delta=1e-9 * case["ratio"])
        self.assertAlmostEqual(pcg["ours"], sum(case["ratio"] for case in pcg["cases"]) / 4, places=9)
        self.assertIn("a GPU", pcg["why"])


if __name__ == "__main__":
    unittest.main()
