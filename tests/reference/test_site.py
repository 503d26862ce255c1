#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The check of the site finds what is wrong in one."""

import pathlib
import tempfile
import unittest

import check_site


class Site(unittest.TestCase):
    def problems(self, body, index='Search.setIndex({"docnames": ["a"]})'):
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder).resolve()
            (site / "a.html").write_text(f'<html><body><h1 id="top">A</h1>{body}</body></html>')
            (site / "a.svg").write_text("<svg/>")
            (site / "searchindex.js").write_text(index)
            return "\n".join(check_site.problems(site, ["a"])[0])

    def test_in_order(self):
        self.assertEqual(self.problems('<a href="#top">up</a><img src="a.svg"><a href="https://example.org/x">away</a>'), "")

    def test_links(self):
        self.assertIn("b.html, which is not there", self.problems('<a href="b.html">b</a>'))
        self.assertIn("no such place", self.problems('<a href="a.html#end">end</a>'))
        self.assertIn("b.png, which is not there", self.problems('<img src="b.png">'))

    def test_nothing_from_a_network(self):
        self.assertIn("loads https://example.org/x.js", self.problems('<script src="https://example.org/x.js"></script>'))
        self.assertIn("loads //example.org/x.css", self.problems('<link rel="stylesheet" href="//example.org/x.css">'))

    def test_search(self):
        self.assertIn("the search does not know a", self.problems("", 'Search.setIndex({"docnames": []})'))
        self.assertIn("does not know a", self.problems("", ""))


if __name__ == "__main__":
    unittest.main()
