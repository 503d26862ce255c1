#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page in Chromium: every view without an error on the console, charts with pixels, a fit to its end, a matrix in and a
program out, two browsers, and a report from disk without a network and without scripts."""
import os
import pathlib
import shutil
import sys
import time
import unittest

SKIPPED = 77
try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError as missing:
    print(f"SKIPPED: {missing}: python3-selenium drives the browser")
    sys.exit(SKIPPED)
DRIVER = shutil.which("chromedriver")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if not DRIVER or not BROWSER:
    print("SKIPPED: chromium and chromium-driver are needed")
    sys.exit(SKIPPED)

import test_workbench  # noqa: E402
from support import grid  # noqa: E402

if test_workbench.without_server():
    print(f"SKIPPED: {test_workbench.without_server()}")
    sys.exit(SKIPPED)

VIEWS = ("machine", "model", "choice", "generate", "report")
PIXELS = """const canvas = arguments[0], data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
let drawn = 0; for (let i = 3; i < data.length; i += 4) drawn += data[i] > 0; return drawn;"""
PAINT = "return performance.getEntriesByName('first-contentful-paint').map(e => e.startTime)[0]"
SIZE = "return performance.getEntriesByType('navigation')[0].decodedBodySize"
# One request for the state fails, residuals are no numbers, and answers come later than the page looks for them.
BAD_LINE = """const real = window.fetch; let asked = 0;
window.fetch = async (path, options) => {
  if (!String(path).startsWith('/api/state')) return real(path, options);
  if (++asked === 2) throw new TypeError('lost');
  const answer = await real(path, options), text = await answer.text();
  await new Promise(done => setTimeout(done, 400));
  return new Response(text.replace(/"residual":[^,}]+/g, '"residual":null'), { status: answer.status });
};"""


def open_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,1000"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(DRIVER), options=options)


class Pages:
    """What the tests do with a browser."""

    driver = None

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, what, seconds=60, message=""):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = what()
            if found:
                return found
            time.sleep(0.1)
        self.fail(message or f"not within {seconds} s; the page says {self.driver.find_element(By.TAG_NAME, 'header').text!r}")

    def press(self, key):
        webdriver.ActionChains(self.driver).send_keys(key).perform()

    def quiet(self):
        """Errors on the console fail; a browser's notes on headless mode do not count."""
        self.assertEqual([line for line in self.driver.get_log("browser") if line["level"] == "SEVERE"], [])

    def assert_drawn(self, selector):
        canvases = self.wait(lambda: self.all(f"{selector} canvas"))
        for canvas in canvases:
            self.assertGreater(self.driver.execute_script(PIXELS, canvas), 200, canvas.get_attribute("aria-label"))
        return len(canvases)

    def shot(self, name, top="header"):
        """A picture for the documents, where the variable names a folder for them."""
        folder = os.environ.get("SEXTANT_SCREENSHOTS")
        if folder:
            os.makedirs(folder, exist_ok=True)
            self.driver.execute_script("arguments[0].scrollIntoView()", self.find(top))
            self.driver.save_screenshot(os.path.join(folder, f"workbench-{name}.png"))


class Live(Pages, test_workbench.Served):
    @classmethod
    def setUpClass(cls):
        cls.driver = open_browser()

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()

    def setUp(self):
        super().setUp()
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.load(self.driver)

    def load(self, driver):
        driver.get(f"http://127.0.0.1:{self.port}/#token={self.token}")
        self.wait(lambda: driver.find_element(By.ID, "status").text == "ready", 30)

    def tab(self, view):
        self.find(f"#tab-{view}").click()

    def run_form(self, action, seconds=90):
        before = len(self.all(".result"))
        self.find(f'form[data-action="{action}"] button').click()
        self.wait(lambda: len(self.all(".result")) > before and self.find("#status").text == "ready", seconds)


class Views(Live):
    def test_each_view_by_keyboard_without_an_error(self):
        self.wait(lambda: self.driver.execute_script(PAINT))
        paint, size = self.driver.execute_script(PAINT), self.driver.execute_script(SIZE)
        print(f"figures: first contentful paint {paint:.0f} ms, page {size} bytes", flush=True)
        self.assertLess(paint, 5000)
        self.assertLessEqual(size, 400_000)
        tab = self.find("#tab-machine")
        self.assertEqual(tab.get_attribute("aria-selected"), "true")
        for view in VIEWS:
            self.assertTrue(self.find(f"#{view}").is_displayed())
            self.assertEqual([each.get_attribute("id") for each in self.all("main > section") if each.is_displayed()], [view])
            for field in self.all(f"#{view} input, #{view} select"):
                self.assertTrue(field.accessible_name, field.get_attribute("outerHTML"))
            self.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT) if view != "machine" else tab.send_keys(Keys.ARROW_RIGHT)
        self.assertTrue(self.find("#machine").is_displayed())  # round again
        self.quiet()

    def test_a_narrow_screen_and_the_keyboard_alone(self):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": False})
        try:
            self.load(self.driver)
            self.press(Keys.TAB)
            skip = self.driver.switch_to.active_element
            self.assertEqual((skip.text, skip.rect["x"] >= 0), ("Skip to content", True))
            self.press(Keys.TAB)
            for view in VIEWS:
                self.assertEqual(self.driver.switch_to.active_element.get_attribute("id"), f"tab-{view}")
                self.assertLessEqual(self.driver.execute_script("return document.documentElement.scrollWidth"), 360, view)
                self.press(Keys.ARROW_RIGHT)
            for _ in range(3):  # device, a box, the button
                self.press(Keys.TAB)
            button = self.driver.switch_to.active_element
            self.assertEqual(button.text, "Look")
            self.press(Keys.ENTER)
            self.wait(lambda: self.all("#machine .result") and self.find("#status").text == "ready")
            self.assertEqual(self.driver.switch_to.active_element, button)
            self.assertLessEqual(self.driver.execute_script("return document.documentElement.scrollWidth"), 360)
            self.press(Keys.TAB)
            self.assertNotEqual(self.driver.switch_to.active_element, button)
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.quiet()

    def test_a_report_is_saved(self):
        self.run_form("machine")
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": self.path("saved")})
        self.tab("report")
        self.shot("report")
        self.find("#save-report").click()
        saved = pathlib.Path(self.path("saved/sextant-report.html"))
        self.wait(lambda: saved.exists() and "</html>" in saved.read_text(encoding="utf-8"), 30, "no file")
        self.assertIn("sextant machine", saved.read_text(encoding="utf-8"))
        self.quiet()

    def test_dark_and_light(self):
        papers = set()
        for scheme in ("light", "dark"):
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            papers.add(self.find("body").value_of_css_property("background-color"))
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.assertEqual(len(papers), 2)

    def test_a_wrong_token_is_told(self):
        self.driver.execute_script("sessionStorage.setItem('token', 'wrong'); location.reload()")
        self.wait(lambda: "token" in self.find("#problem").text, 20)

    def test_a_server_that_ended_is_told(self):
        self.end(self.process)
        self.find('form[data-action="machine"] button').click()
        self.wait(lambda: "does not answer" in self.find("#problem").text, 20)


class Work(Live):
    def test_machine_and_its_roofline(self):
        self.find('form[data-action="machine"] input[name="measure"]').click()
        self.wait(lambda: "sextant machine --measure" in self.find('form[data-action="machine"] .command').text)
        self.run_form("machine")
        self.assertEqual(self.assert_drawn("#machine .result"), 1)
        self.assertIn("Gflop/s", self.find("#machine .result").text)
        self.shot("machine")
        self.quiet()

    def test_three_clicks_to_a_fitted_model(self):
        start = time.monotonic()
        self.tab("model")
        self.wait(lambda: self.all('select[data-kernels] option'))
        self.run_form("model", 60)
        self.assertLess(time.monotonic() - start, 60)
        self.assertGreaterEqual(self.assert_drawn("#model .result"), 4)
        self.assert_drawn("#model figure.live")
        text = self.find("#model .result").text
        for words in ("error, cross-validated", "Form:", "As a C function", "points in"):
            self.assertIn(words, text)
        self.shot("model")
        self.run_form("accept")  # there is no profile here: it says what to do
        self.assertIn("calibrate", self.find("#model .result .error").text)
        self.quiet()

    def test_a_second_profile_beside_the_fit(self):
        profile = self.path("other.toml")
        self.run_command("calibrate", "--device", "cpu", "--threads", "1", "--kind", "sxt.reduction/1", "--seconds", "2", "-o", profile)
        self.tab("model")
        self.wait(lambda: self.all('select[data-kernels] option'))
        form = 'form[data-action="model"] '
        self.find(f'{form}input[data-to="compare"]').send_keys(profile)
        self.wait(lambda: "--compare" in self.find(f"{form}.command").text)
        self.find(f'{form}[name="seconds"]').clear()
        self.find(f'{form}[name="seconds"]').send_keys("5")
        self.run_form("model", 60)
        self.assertRegex(self.find("#model .result").text, r"error of the models of .*other\.toml")
        self.assert_drawn("#model .result")
        self.quiet()

    def test_a_choice_and_its_map(self):
        self.tab("choice")
        form = 'form[data-action="verify"] '
        for name, value in (("generate", "stencil-2d,banded"), ("n", "500,2000")):
            self.find(f'{form}input[name="{name}"]').clear()
            self.find(f'{form}input[name="{name}"]').send_keys(value)
        self.run_form("verify")
        self.assert_drawn("#choice .result")
        self.assertIn("did not exist", self.find("#choice .result").text)
        self.run_form("explain")
        self.assertIn("Candidates", self.find("#choice .result").text)
        self.assertTrue(self.all("#choice .result figure:not(.chart) svg path"))  # where the entries lie
        self.run_form("tree")
        self.shot("choice", "#choice .result")
        self.quiet()

    def test_a_matrix_goes_in_and_a_program_comes_out(self):
        self.tab("generate")
        self.find('#generate input[type="file"]').send_keys(self.file("mine.mtx", grid(30)))
        self.wait(lambda: "mine.mtx" in self.find("#generate form .command").text)
        self.run_form("generate")
        self.assertIn("converged", self.find("#generate .result").text)
        self.assertEqual({link.text for link in self.all("#generate .result a[data-file]")}, {"solve.c", "CMakeLists.txt", "plan.toml", "matrix.mtx"})
        self.assert_drawn("#generate .result")
        self.shot("generate", "#generate .result")
        self.quiet()

    def test_a_request_that_is_lost_and_residuals_that_are_no_numbers(self):
        self.tab("generate")
        form = '#generate form '
        for name, value in (("n", "250000"), ("rtol", "1e-10")):
            self.find(f'{form}[name="{name}"]').clear()
            self.find(f'{form}[name="{name}"]').send_keys(value)
        self.driver.execute_script(BAD_LINE)
        self.run_form("generate")
        self.assertIn("converged", self.find("#generate .result").text)
        self.assertEqual(self.find("#problem").text, "")
        self.quiet()

    def test_a_path_that_is_typed_is_the_matrix(self):
        self.tab("generate")
        self.assertNotEqual(self.find('#generate form [name="generate"]').get_attribute("value"), "")
        self.find('#generate form [name="matrix"]').send_keys("/a/path.mtx", Keys.TAB)
        self.wait(lambda: "generate-solver /a/path.mtx" in self.find("#generate form .command").text)

    def test_another_chart_library_leaves_the_drawings(self):
        self.driver.execute_script("window.Chart = function () { throw new Error('another version'); }")
        self.find('form[data-action="machine"] input[name="measure"]').click()
        self.run_form("machine")
        self.assertTrue(self.find("#machine .result figure.chart svg").is_displayed())
        self.assertEqual(self.all("#machine .result canvas"), [])
        self.quiet()

    def test_what_is_no_matrix_is_told(self):
        self.tab("generate")
        self.find('#generate input[type="file"]').send_keys(self.file("bad.mtx", "nothing\n"))
        self.wait(lambda: "bad.mtx" in self.find("#generate form .command").text)
        self.run_form("generate")
        self.assertIn("bad.mtx", self.find("#generate .result .error").text)

    def test_two_browsers_and_a_closed_tab(self):
        self.environment["SEXTANT_PROFILE"] = self.path("profile.toml")
        self.find('form[data-action="calibrate"] input[name="seconds"]').send_keys("300")
        self.find('form[data-action="calibrate"] button').click()
        self.wait(lambda: "calibrate" in self.find("#status").text)
        self.driver.get("about:blank")  # the tab is closed; the job goes on
        other = open_browser()
        try:
            other.get(f"http://127.0.0.1:{self.port}/#token={self.token}")
            self.wait(lambda: "left" in other.find_element(By.ID, "status").text)
            self.assertFalse(other.find_element(By.CSS_SELECTOR, 'form[data-action="machine"] button').is_enabled())
            other.find_element(By.ID, "cancel").click()
            self.wait(lambda: other.find_element(By.ID, "status").text == "ready")
        finally:
            other.quit()


class Frozen(Pages, test_workbench.CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.driver = open_browser()

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()

    def test_a_report_from_disk_without_network_and_without_scripts(self):
        self.run_command("report", self.file("a.mtx", grid(9)), "--generate", "banded", "--n", "500", "--device", "cpu", "-o", self.path("r.html"))
        address = pathlib.Path(self.path("r.html")).as_uri()
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
        self.driver.get(address)
        self.assert_drawn("#machine")
        self.driver.find_element(By.ID, "tab-choice").click()
        self.assert_drawn("#choice")
        self.quiet()
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        try:
            self.driver.get(address)
            self.assertEqual(len([each for each in self.all("main > section") if each.is_displayed()]), len(VIEWS))
            drawings = self.all("figure svg")
            self.assertGreater(len(drawings), 4)
            self.assertTrue(all(each.is_displayed() for each in drawings))
        finally:
            self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


if __name__ == "__main__":
    try:
        open_browser().quit()
    except WebDriverException as reason:
        print(f"SKIPPED: the browser does not start: {reason.msg}")
        sys.exit(SKIPPED)
    # Tests of the imported module run elsewhere.
    unittest.main()
