# SPDX-License-Identifier: BSD-3-Clause
"""sextant explain --op OPERATION --tree: ranges without gaps, drawings without external resources, refusals."""
import unittest

from support import USAGE, CommandTest, grid


class Trees(CommandTest):
    def test_leaves_cover_every_length_once(self):
        for operation, kind in (("dot", "sxt.reduction/1"), ("axpy", "sxt.vector/1"), ("multidot-2", "sxt.multidot/1")):
            tree, _ = self.run_json("explain", "--op", operation, "--tree", "--device", "cpu")
            self.assertEqual((tree["operation"], tree["kind"], tree["value_type"]), (operation, kind, "f64"))
            self.assertEqual(tree["leaves"][0]["first"], 1)
            for before, after in zip(tree["leaves"], tree["leaves"][1:]):
                self.assertEqual(after["first"], before["last"] + 1)
            for leaf in tree["leaves"]:
                self.assertLessEqual(leaf["first"], leaf["last"])
                self.assertTrue(leaf["kernel"].endswith(".cpu"), leaf)

    def test_type_and_threads(self):
        tree, _ = self.run_json("explain", "--op", "dot", "--tree", "--type", "c64", "--threads", "1", "--device", "cpu")
        self.assertEqual(tree["value_type"], "c64")
        self.assertEqual({leaf["launch"][0] for leaf in tree["leaves"]}, {1})

    def test_text_and_drawing(self):
        result = self.run_command("explain", "--op", "dot", "--tree", "--device", "cpu", "--svg", self.path("t.svg"))
        self.assertIn("Decision tree of dot, f64", result.stdout)
        self.assertIn("questions to the models", result.stdout)
        labels, _ = self.assert_drawing("t.svg")
        self.assertTrue(any(label.startswith("reduction.") for label in labels), labels)

    def test_refusals(self):
        self.assert_fails("explain", "--op", "dott", "--tree", expect=USAGE, says=["dott", "dot"])
        self.assert_fails("explain", "--op", "dot", self.file("a.mtx", grid(3)), expect=USAGE, says="--tree")
        self.assert_fails("explain", "--tree", expect=USAGE, says="--tree needs --op")
        self.assert_fails("explain", "--op", "dot", "--tree", "--precond", "none", expect=USAGE, says="--precond")
        self.assert_fails("explain", "--op", "dot", "--tree", self.path("a.mtx"), expect=USAGE, says="a.mtx")
        self.assert_fails("explain", self.file("a.mtx", grid(3)), "--svg", self.path("t.svg"), expect=USAGE, says="--tree")


if __name__ == "__main__":
    unittest.main()
