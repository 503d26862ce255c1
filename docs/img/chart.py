#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/img/cg_iteration.svg, the chart of README.md, from the first table of docs/measurements/gpu_pcg.md: an iteration of
conjugate gradients by the fastest of Sextant's engines, and by a textbook's loop over cuSPARSE and cuBLAS.

  chart.py          writes the chart
  chart.py --check  fails where the chart is not what the table says
"""

import math
import pathlib
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent
CHART = DOCS / "img/cg_iteration.svg"
LEFT, WIDTH, ROW, BAR = 130, 520, 40, 14
DECADES = (0, 1, 2, 3)  # microseconds, powers of ten
LAST = math.log10(3000)


def rows():
    """grid, us of the fastest engine, us of the textbook's loop."""
    text = (DOCS / "measurements/gpu_pcg.md").read_text(encoding="utf-8")
    table = text.split("## Time of an iteration")[1].split("\n\n")[2].split("\n")[2:]
    for line in table:
        grid, _, _, *times, textbook = [cell.strip() for cell in line.strip("|").split("|")]
        yield grid, min(float(time) for time in times if time != "-"), float(textbook)


def bar(y, seconds, colour, label):
    width = WIDTH * math.log10(seconds) / LAST
    yield f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{colour}"/>'
    yield f'<text x="{LEFT + width + 5:.1f}" y="{y + 11}" font-size="11">{label}</text>'


def chart():
    found = list(rows())
    height = 78 + ROW * len(found)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}" viewBox="0 0 760 {height}" font-family="sans-serif" font-size="13">'
    yield "<title>Microseconds of an iteration of conjugate gradients</title>"
    yield f'<rect width="760" height="{height}" fill="#fff"/>'
    yield '<text x="16" y="22">One iteration of conjugate gradients on an NVIDIA H200, f64, microseconds (logarithmic)</text>'
    yield f'<rect x="{LEFT}" y="32" width="12" height="12" fill="#3b7a57"/><text x="{LEFT + 18}" y="43" font-size="11">Sextant, its fastest engine</text>'
    yield f'<rect x="{LEFT + 200}" y="32" width="12" height="12" fill="#b9b2a3"/><text x="{LEFT + 218}" y="43" font-size="11">loop over cuSPARSE and cuBLAS</text>'
    for decade in DECADES:
        x = LEFT + WIDTH * decade / LAST
        yield f'<path d="M{x:.1f} 54V{height - 20}" stroke="#ddd"/><text x="{x:.1f}" y="{height - 6}" font-size="11" text-anchor="middle">{10**decade}</text>'
    for i, (grid, own, textbook) in enumerate(found):
        y = 60 + ROW * i
        yield f'<text x="{LEFT - 8}" y="{y + 18}" text-anchor="end">{grid}</text>'
        yield from bar(y, own, "#3b7a57", f"{own:g} ({textbook / own:.1f} times faster)")
        yield from bar(y + BAR + 1, textbook, "#b9b2a3", f"{textbook:g}")
    yield "</svg>"


def main():
    text = "\n".join(chart()) + "\n"
    if sys.argv[1:] == ["--check"]:
        if not CHART.is_file() or CHART.read_text(encoding="utf-8") != text:
            sys.exit("docs/img/cg_iteration.svg is not what docs/measurements/gpu_pcg.md says: run docs/img/chart.py")
    else:
        CHART.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
