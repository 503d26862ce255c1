# SPDX-License-Identifier: BSD-3-Clause
"""sextant bench --peers: comparisons, messages about missing peers, and wrong peers."""
import math
import os

from support import BAD_INPUT, USAGE, CommandTest, grid

PEERS = os.environ["SEXTANT_TEST_PEERS"]
KNOWN = {"cholmod", "cudss", "eigen", "librsb", "mkl", "openblas", "petsc"}


class Peers(CommandTest):
    def bench(self, suite, *arguments, peers="none", objects=()):
        """The report of a run against these test peers, and the messages on stderr."""
        paths = [word for name in objects for word in ("--peer-path", os.path.join(PEERS, name + ".so"))]
        return self.run_json("bench", suite, "--repeat", "3", "--threads", "2", "--triad", "10", f"--peers={peers}", *paths,
                             *arguments)

    def ratios(self, report, peer):
        return [row["ratio"] for row in report["rows"] if row["kernel"] == "choice" and row["peer"] == peer]

    def check_rows(self, report):
        for row in report["rows"]:
            self.assertAlmostEqual(row["ratio"], row["peer_seconds"] / row["seconds"], delta=1e-9 * row["ratio"])
            self.assertGreaterEqual(row["peer_setup_seconds"], 0)
            # 10 GB/s are 10 bytes a nanosecond.
            self.assertAlmostEqual(row["bound_fraction"], row["bytes"] / row["seconds"] / 1e10, delta=1e-9)

    def test_spmv_against_a_peer(self):
        report, messages = self.bench("spmv", self.file("a.mtx", grid(12)), objects=["plain"])
        self.check_rows(report)
        self.assertEqual([(p["name"], p["version"], p["threads"]) for p in report["peers"]], [("plain", "1.2.3", 1)])
        self.assertEqual({row["peer"] for row in report["rows"]}, {"textbook", "plain"})
        # Every kernel is compared with every peer, the library's own choice among them.
        pairs = {(row["kernel"], row["peer"]) for row in report["rows"]}
        self.assertEqual(len(pairs), 2 * len({kernel for kernel, _ in pairs}))
        self.assertIn(("choice", "plain"), pairs)
        self.assertIn("plain uses 1 of 2 threads" if report["threads"] == 2 else "", messages)

    def test_cholesky_against_peers(self):
        matrix = self.file("a.mtx", grid(8))
        for phase in ("analysis", "factor", "solve"):
            report, messages = self.bench("cholesky", matrix, "--phase", phase, "--n-rhs", "2", objects=["plain", "wrong"])
            peers = {row["peer"] for row in report["rows"]}
            self.assertEqual(peers, {"textbook", "plain", "wrong"} if phase == "analysis" else {"textbook", "plain"})
            if phase != "analysis":
                self.assertIn("wrong", {failed["kernel"] for failed in report["failed"]})
                self.assertIn("wrong is not measured: its result differs", messages)

    def test_summary_is_the_geometric_mean(self):
        report, _ = self.bench("reduction", "--n", "64,1000,4000", objects=["plain"])
        ratios = self.ratios(report, "plain")
        self.assertEqual(len(ratios), 3)
        lines = {line["peer"]: line for line in report["summary"]}
        mean = math.exp(sum(map(math.log, ratios)) / 3)
        # The textbook is not a library: "best" is the best of the others.
        for name in ("plain", "best"):
            self.assertEqual(lines[name]["cases"], 3)
            self.assertAlmostEqual(lines[name]["geometric_mean"], mean, delta=1e-9 * mean)
            self.assertAlmostEqual(lines[name]["worst"], min(ratios), delta=1e-9 * mean)
        self.assertEqual(lines["textbook"]["cases"], len(self.ratios(report, "textbook")))

    def test_pcg_to_the_same_residual(self):
        report, _ = self.bench("pcg", self.file("a.mtx", grid(6)), objects=["plain", "wrong"])
        self.check_rows(report)
        self.assertTrue(all(row["chosen"].startswith("pcg.") for row in report["rows"]))
        by_peer = {row["peer"]: row for row in report["rows"] if row["kernel"] == "choice"}
        self.assertTrue(by_peer["plain"]["comparable"])
        self.assertGreater(by_peer["plain"]["peer_iterations"], by_peer["textbook"]["peer_iterations"])
        self.assertLessEqual(by_peer["plain"]["peer_true_relative_residual"], 2e-8)
        self.assertGreater(by_peer["plain"]["seconds_per_iteration"], 0)
        # A solve that did not converge is not compared.
        self.assertFalse(by_peer["wrong"]["comparable"])
        self.assertNotIn("wrong", {line["peer"] for line in report["summary"]})

    def test_vector_only_what_the_peer_has(self):
        report, _ = self.bench("vector", "--n", "1000", objects=["plain"])
        self.assertEqual({row["case"] for row in report["rows"] if row["peer"] == "plain"}, {"axpy n=1000"})

    def test_a_wrong_peer_is_named_and_not_measured(self):
        for suite, arguments in (("spmv", [self.file("a.mtx", grid(5))]), ("vector", ["--n", "100"]),
                                 ("reduction", ["--n", "100"])):
            report, messages = self.bench(suite, *arguments, objects=["wrong"])
            self.assertEqual({row["peer"] for row in report["rows"]}, {"textbook"})
            self.assertEqual({failed["kernel"] for failed in report["failed"]}, {"wrong"})
            self.assertIn("differs from the textbook's", messages)

    def test_a_peer_without_its_library(self):
        report, messages = self.bench("reduction", "--n", "100", "--peer-path", self.folder, objects=["absent"])
        self.assertEqual(report["missing_peers"],
                         [{"name": "absent", "reason": f"no libabsent.so in {self.folder}"}])
        self.assertIn("peer absent is not measured: no libabsent.so in", messages)
        self.assertEqual({row["peer"] for row in report["rows"]}, {"textbook"})

    def test_a_file_that_is_no_peer(self):
        for name, text, says in (("a.so", "not a library", "does not load"), ("none.so", None, "does not load")):
            path = self.file(name, text) if text else self.path(name)
            report, messages = self.bench("reduction", "--n", "100", "--peer-path", path)
            self.assertEqual([missing["name"] for missing in report["missing_peers"]], [name])
            self.assertIn(says, messages)

    def test_known_peers_are_there_or_said(self):
        report, messages = self.bench("reduction", "--n", "1000", peers="all")
        there = {peer["name"] for peer in report["peers"]}
        missing = {peer["name"] for peer in report["missing_peers"]}
        self.assertEqual(there | missing, KNOWN)
        self.assertFalse(there & missing)
        for name in missing:
            self.assertIn(f"peer {name} is not measured: ", messages)
        self.assertFalse([failed for failed in report["failed"] if failed["kernel"] in there])

    def test_known_peers_give_right_products_and_solves(self):
        matrix = self.file("a.mtx", grid(12))
        for suite in ("spmv", "pcg"):
            report, _ = self.bench(suite, matrix, peers="all")
            self.assertEqual(report["failed"], [])
            offered = {row["peer"] for row in report["rows"]} - {"textbook"}
            self.assertEqual(offered, {p["name"] for p in report["peers"]} & (
                {"eigen", "librsb", "mkl", "petsc"} if suite == "spmv" else {"eigen", "petsc"}))
            self.assertTrue(all(row.get("comparable", True) for row in report["rows"]))

    def test_unknown_names(self):
        self.assert_fails("bench", "spmv", "--peers=nonesuch", expect=USAGE, says=["nonesuch", "eigen", "mkl"])
        self.assert_fails("bench", "spmv", "--generate", "nonesuch", expect=USAGE, says=["nonesuch", "stencil-27pt"])
        self.assert_fails("bench", "spmv", "--list", self.path("none"), expect=BAD_INPUT, says="cannot be read")

    def test_generated_and_listed(self):
        self.file("a.mtx", grid(5))
        listed = self.file("list", self.path("a.mtx") + "\n")
        report, _ = self.run_json("bench", "spmv", "--repeat", "1", "--n", "216", "--list", listed, "--generate",
                                  "stencil-27pt,power-law")
        self.assertEqual({row["case"] for row in report["rows"]},
                         {"a.mtx", "stencil-3d-27pt-6x6x6", "power-law-216"})
        nnz = {row["case"]: row["nnz"] for row in report["rows"]}
        self.assertEqual(nnz["stencil-3d-27pt-6x6x6"], (3 * 6 - 2) ** 3)

    def test_triad_is_measured(self):
        report, _ = self.run_json("bench", "reduction", "--n", "100", "--repeat", "1", "--peers=none")
        self.assertGreater(report["triad_gb_per_s"], 0.1)

    def test_markdown(self):
        self.run_command("bench", "reduction", "--n", "100", "--repeat", "1", "--triad", "10", "--markdown", self.path("section"))
        with open(self.path("section"), encoding="utf-8") as file:
            text = file.read()
        for part in ("triad ", "sextant bench reduction --n 100", "| choice against |", "| case | kernel chosen |",
                     "| dot n=100 |"):
            self.assertIn(part, text)
