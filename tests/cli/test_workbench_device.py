# SPDX-License-Identifier: BSD-3-Clause
"""sextant workbench where the device is lost in the middle of a fit: a clear message, and a server that goes on. On a stand-in
for the vendor's libraries, whose n-th call and all after it fail."""
import os
import unittest

import test_workbench

KERNEL, LOST = "spmv.csr.scalar.cuda", 719


class Lost(test_workbench.Served):
    options = ("--device", "cuda")

    def setUp(self):
        if not os.path.exists(os.environ["SEXTANT_CUDA_PLUGIN"]):
            self.skipTest("this build has no CUDA plugins")
        self.failing = None
        super().setUp()

    def start(self, *options):
        if self.failing:
            self.environment["SEXTANT_FAKE_FAIL"] = f"{self.failing}:{LOST}"
        super().start(*options)

    def test_a_device_that_is_lost_in_the_middle_of_a_fit(self):
        fields = {"kernel": KERNEL, "points": "all", "seconds": "60"}
        # The stand-in's events have no time between them: every point is tried, and none can be told a time.
        self.assertIn("could not be measured", self.data_of(self.run_job("model", fields, 120))["error"])
        reached = False
        # So many calls later. Twice as many each time: between the first point and the last, forty later, one of them falls.
        for failing in (4000 << step for step in range(10)):
            self.end(self.process)
            self.failing = failing
            self.start()
            result = self.run_job("model", fields, 120)
            error = self.data_of(result)["error"]
            self.assertIn('class="error"', result["html"])
            reached = "ended after" in error and "ended after 0 of" not in error
            if reached:
                break
        self.assertTrue(reached, error)
        self.assertRegex(error, rf"the fit of {KERNEL} ended after \d+ of \d+ points, at \S+: .")
        self.goes_on()
        # On another device all is as before.
        self.assertIn("processor", self.data_of(self.run_job("machine", {"device": "cpu"})))


if __name__ == "__main__":
    unittest.main()
