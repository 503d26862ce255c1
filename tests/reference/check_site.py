#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the site of documents by tools/docs and checks it: check_site.py SOURCE BUILD

Links lead to pages, places on them and files that are there; pages load nothing from a network; the search, which needs none,
knows every page. Exit code 77, and the reason, where a program that tools/docs needs is not installed."""

import html.parser
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

# Pages that Doxygen made: it links to sections that it then leaves out.
HEADERS = "headers"
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload"}


class Page(html.parser.HTMLParser):
    """What a page links to, loads, and can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.places, self.links, self.loads = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = {name: value or "" for name, value in attributes}
        self.places.update(attributes[name] for name in ("id", "name") if name in attributes)
        if tag == "a" and "href" in attributes:
            self.links.add(attributes["href"])
        loads = tag != "link" or LOADED_LINKS & set(attributes.get("rel", "").split())
        if tag in LOADED and LOADED[tag] in attributes and loads:
            self.loads.add(attributes[LOADED[tag]])


def pages_of(site):
    return {path: Page(path.read_text(encoding="utf-8", errors="replace")) for path in sorted(site.rglob("*.html"))}


def link_problems(site, pages):
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in sorted(page.links | page.loads):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme not in ("data", "javascript"):
                    yield f"{name} loads {link}"
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{name} links to {link}, which is not there"
            elif parts.fragment and name.parts[0] != HEADERS and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].places:
                yield f"{name} links to {link}, and that page has no such place"


def search_problems(site, wanted):
    """wanted: names of documents."""
    index = site / "searchindex.js"
    if not index.exists():
        return ["there is no searchindex.js"]
    found = re.search(r'"?docnames"?:\s*(\[[^\]]*\])', index.read_text(encoding="utf-8"))
    names = set(json.loads(found[1])) if found else set()
    return [f"the search does not know {name}" for name in sorted(set(wanted) - names)]


def problems(site, wanted):
    pages = pages_of(site)
    found = list(link_problems(site, pages)) + search_problems(site, wanted)
    found += [f"there is no page of {name}" for name in sorted(wanted) if site / f"{name}.html" not in pages]
    return found, len(pages)


def main():
    source, build = (pathlib.Path(each).resolve() for each in sys.argv[1:3])
    run = subprocess.run([source / "tools/docs", "--build", build], capture_output=True, text=True)
    said = run.stdout + run.stderr
    if run.returncode == 1 and "is missing: apt-get install" in said:
        print(f"SKIPPED: {said.strip().splitlines()[-1]}")
        return 77
    print(said)
    if run.returncode != 0:
        return 1
    site = build / "docs" / "site"
    wanted = ["README", "CHANGELOG", "CONTRIBUTING", *(path.relative_to(source).with_suffix("").as_posix() for path in source.glob("docs/**/*.md"))]
    found, count = problems(site, wanted)
    if not (site / "headers" / "index.html").exists():
        found.append("there is no reference of the headers")
    print("\n".join(found) if found else f"{count} pages")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
