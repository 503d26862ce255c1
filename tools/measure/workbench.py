#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/measurements/workbench.md, as Markdown.

    workbench.py points SEXTANT [KERNEL ...]             how many suggested points are enough
    workbench.py record SEXTANT FOLDER [KERNEL ...]      measures whole sets in several rounds, for points_replay
    workbench.py program SEXTANT PREFIX [MATRIX ...]     a generated program beside the run that made it
    workbench.py paint SEXTANT [SEXTANT ...]             first paint of the page in chromium, beside an empty page's

SEXTANT is the command. PREFIX is where Sextant is installed: programs are built against it with CMake. A matrix is a
Matrix Market file, or NAME:ROWS of a generated one. Options of the command go into $SEXTANT_OPTIONS.
"""
import http.server
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

KERNELS = ("spmv.csr.rows.cpu", "spmv.csr.balanced.cpu", "spmv.sell.slices.cpu", "spmv.coo.serial.cpu", "spmv_dots.csr.cpu",
           "preconditioner.chebyshev.cpu", "vector.loops.cpu", "reduction.tree.cpu", "multidot.tree.cpu",
           "hermitian.interleaved.cpu")  # fmt: skip
MATRICES = ("stencil-2d:40000", "stencil-3d:60000", "banded:20000", "power-law:50000")
ROUNDS = 7
PAINTS = 15
OPTIONS = os.environ.get("SEXTANT_OPTIONS", "").split()


def command(binary, *arguments):
    return json.loads(subprocess.run([binary, *arguments, *OPTIONS, "--json"], check=True, capture_output=True, text=True).stdout)


def percent(share):
    return f"{100 * share:.1f} %"


def points(binary, *kernels):
    print("| kernel | points | noise | set's error, cross-validated | enough of them | set's error, points it has seen | enough of them |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for kernel in kernels or KERNELS:
        report = command(binary, "model", kernel, "--points", "all", "--seconds", "600")
        enough = report["enough"]
        noise = statistics.median(sample["noise"] for sample in report["samples"])
        cells = [kernel, str(report["set_points"]), percent(noise)]
        for error, step in (("set_error_cross_validated", "within_cross_validated"), ("set_error", "within_set_error")):
            few = enough[step]
            cells += [percent(enough[error]), f"{few['points']} ({100 * few['share']:.0f} %)" if few else "never"]
        print("| " + " | ".join(cells) + " |", flush=True)


def solver(binary, matrix, folder):
    name, _, rows = matrix.partition(":")
    source = ["--generate", name, "--n", rows] if rows else [matrix]
    return command(binary, "generate-solver", *source, "-o", folder, "--force")


def record(binary, folder, *kernels):
    """Round by round, so that what else the machine does meets each set at several times."""
    os.makedirs(folder, exist_ok=True)
    for number in range(1, 4):
        for kernel in kernels or KERNELS:
            report = command(binary, "model", *kernel.split(), "--points", "all", "--seconds", "600")
            with open(f"{folder}/{kernel.replace(' ', '_')}.{number}.json", "w", encoding="utf-8") as file:
                json.dump(report, file)


def build(prefix, folder):
    for step in (["cmake", "-S", folder, "-B", f"{folder}/build", f"-DCMAKE_PREFIX_PATH={prefix}"], ["cmake", "--build", f"{folder}/build"]):
        subprocess.run(step, check=True, capture_output=True)


def solved(folder):
    """Iterations and seconds of a solve, by the program."""
    out = subprocess.run([f"{folder}/build/solve", folder], check=True, capture_output=True, text=True).stdout
    answer = dict(line.split() for line in out.splitlines())
    return int(answer["iterations"]), float(answer["solve_seconds"])


def ratio_text(ratios):
    return f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"


def program(binary, prefix, *matrices):
    print("| matrix | iterations, run and program | least time of a solve: run | program | program / run | program / run by turns: median (least to most) "
          "| run / run by turns |")  # fmt: skip
    print("|---|--:|--:|--:|--:|--:|--:|")
    for matrix in matrices or MATRICES:
        with tempfile.TemporaryDirectory() as place:
            folder, runs, programs, again, counts = f"{place}/program", [], [], [], set()
            solver(binary, matrix, folder)
            build(prefix, folder)
            for _ in range(ROUNDS):
                # The program between two runs: what else the machine does meets all, and the two runs say how much it is.
                before = solver(binary, matrix, f"{place}/again")
                iterations, seconds = solved(folder)
                after = solver(binary, matrix, f"{place}/again")
                runs.append((before["measured_solve_seconds"], after["measured_solve_seconds"]))
                programs.append(seconds)
                counts |= {(before["iterations"], iterations), (after["iterations"], iterations)}
            ratios = [b / (0.5 * (x + y)) for (x, y), b in zip(runs, programs)]
            again = [y / x for x, y in runs]
            told = "; ".join(f"{a} and {b}" for a, b in sorted(counts))
            run, made = min(map(min, runs)), min(programs)
            print(f"| {matrix} | {told} | {run * 1e3:.2f} ms | {made * 1e3:.2f} ms | {made / run:.3f} | {ratio_text(ratios)} | {ratio_text(again)} |", flush=True)


EMPTY = (b'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Empty</title><link rel="icon" href="data:,">'
         b"<style>body { font: 16px/1.45 system-ui, sans-serif; }</style></head><body><h1>Empty</h1></body></html>")  # fmt: skip
PAINTED = """const paint = performance.getEntriesByName('first-contentful-paint')[0], page = performance.getEntriesByType('navigation')[0];
return paint ? [paint.startTime, page.responseEnd, page.domInteractive, page.decodedBodySize] : null;"""


class EmptyPage(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        for name, value in (("Content-Type", "text/html"), ("Content-Length", str(len(EMPTY)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(EMPTY)

    def log_message(self, *_):
        pass


def painted(driver, address):
    driver.get("about:blank")
    driver.get(address)
    for _ in range(200):
        found = driver.execute_script(PAINTED)
        if found:
            return found
        time.sleep(0.05)
    sys.exit(f"{address} was not painted within 10 s")


def paint(*binaries):
    """The pages take turns."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,1000"):
        options.add_argument(flag)
    empty = http.server.ThreadingHTTPServer(("127.0.0.1", 0), EmptyPage)
    threading.Thread(target=empty.serve_forever, daemon=True).start()
    servers = [subprocess.Popen([binary, "workbench", "--no-open", *OPTIONS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
               for binary in binaries]  # fmt: skip
    driver = webdriver.Chrome(options=options)
    try:
        pages = [("an empty page", f"http://127.0.0.1:{empty.server_port}/")]
        pages += [(binary, server.stdout.readline().strip()) for binary, server in zip(binaries, servers)]
        rounds = [[painted(driver, address) for _, address in pages] for _ in range(PAINTS)]
    finally:
        driver.quit()
        for server in servers:
            server.terminate()
    print("| page | bytes | first contentful paint, least | median | most | page received, median | document read, median |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for (name, _), taken in zip(pages, zip(*rounds)):
        first, received, read, size = zip(*taken)
        print(f"| {name} | {size[0]:.0f} | {min(first):.0f} ms | {statistics.median(first):.0f} ms | {max(first):.0f} ms | "
              f"{statistics.median(received):.0f} ms | {statistics.median(read):.0f} ms |")  # fmt: skip


if __name__ == "__main__":
    actions = {"points": (points, 3), "record": (record, 4), "program": (program, 4), "paint": (paint, 3)}
    action, least = actions.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if not action or len(sys.argv) < least:
        sys.exit(__doc__)
    action(*sys.argv[2:])
