# SPDX-License-Identifier: BSD-3-Clause
"""The site of documents, for Sphinx with MyST; `tools/docs` builds it. Documents are read as they lie in the sources, so that their links hold
there and here. README.md is the first page, and the table at its end is the navigation."""

import os
import re

project = "Sextant"
author = "the authors of Sextant"
copyright = author  # Sphinx's name
version = release = os.environ.get("SEXTANT_VERSION", "")
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md", "docs/*/*.md", "plugins/**/README.md",
                    "tests/**/README.md", "tools/**/README.md", "profiles/README.md"]  # fmt: skip
html_theme = "furo"
html_title = f"Sextant {release}"
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
# What Doxygen made, below headers/.
html_extra_path = [os.environ["SEXTANT_HEADERS"]] if os.environ.get("SEXTANT_HEADERS") else []
myst_heading_anchors = 4
myst_enable_extensions = []

HEADERS = '<p><a href="{}headers/index.html">The reference of the headers: every public function, option and constant.</a></p>'
ROW = re.compile(r"^\| ([\w ]+) \| (\[.*) \|$", re.M)
TOCTREE = "\n\n```{{toctree}}\n:hidden:\n:caption: {}\n{}\n{}\n```\n"


def navigation(text):
    """A toctree for each row of the table of README.md; kernels have their own."""
    trees = []
    for caption, links in ROW.findall(text):
        pages = dict.fromkeys(re.findall(r"\]\(([\w/.]+)\.md\)", links))
        trees.append(TOCTREE.format(caption.capitalize(), "", "\n".join(pages)))
    return "".join(trees) + TOCTREE.format("Kernels, tests, tools", ":glob:\n", "plugins/**\nprofiles/**\ntests/**\ntools/**")


def adapt(app, name, source):
    """Sphinx hands each document over before it reads it: links to what is beside the documents."""
    headers = bool(app.config.html_extra_path)
    if name == app.config.root_doc:
        source[0] += (HEADERS.format("") if headers else "") + navigation(source[0])
    elif name == "docs/install" and headers:
        title = "## Reference of the headers\n"
        source[0] = source[0].replace(title, f"{title}\n{HEADERS.format('../')}\n")


def setup(app):
    app.connect("source-read", adapt)
    return {"parallel_read_safe": True}
