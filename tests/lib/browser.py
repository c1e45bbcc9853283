# SPDX-License-Identifier: Apache-2.0
"""Drives a Chromium without a window, through a pipe, by the DevTools protocol.

with Browser() as browser: browser.open(path); browser.evaluate("1 + 1")"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
TIMEOUT_S = 60


def find():
    """Returns the path of Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="test-of-dlprof-")
        command_read, self.command = os.pipe()
        self.answer, answer_write = os.pipe()
        # Chromium reads commands from descriptor 3 and writes to 4.
        command = ["sh", "-c", 'exec "$@" 3<&{} 4>&{}'.format(command_read, answer_write), "sh",
                   find(), "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                   "--no-first-run", "--disable-extensions", "--disable-background-networking",
                   "--disable-dev-shm-usage", "--hide-scrollbars",
                   "--user-data-dir=" + self.folder]
        self.process = subprocess.Popen(command, pass_fds=(command_read, answer_write),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL,
                                        env=dict(os.environ, HOME=self.folder))
        os.close(command_read)
        os.close(answer_write)
        self.rest = b""
        self.number = 0
        self.events = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.command)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.answer)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _message(self, end):
        while b"\0" not in self.rest:
            if not select.select([self.answer], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("chromium does not answer")
            part = os.read(self.answer, 1 << 20)
            if not part:
                raise EOFError("chromium ended")
            self.rest += part
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.command, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + TIMEOUT_S
        while True:
            answer = self._message(end)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("{}: {}".format(method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        end = time.monotonic() + TIMEOUT_S
        while True:
            for i, event in enumerate(self.events):
                if event.get("method") == method:
                    return self.events.pop(i)
            self.events.append(self._message(end))

    def open(self, path):
        self.events = []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait_for("Page.loadEventFired")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def look(self, width=1280, dark=False, script=True, print_=False):
        """Sets how the following pages are shown."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media="print" if print_ else "", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)

    def screenshot(self, path):
        """Saves a picture of the whole page, however long it is."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"],
                               "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def complaints(self):
        """Returns errors and warnings of the page, and its requests for anything but the file
        itself."""
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(json.dumps(parameters["exceptionDetails"])[:500])
            elif method == "Runtime.consoleAPICalled":
                found.append(json.dumps(parameters.get("args"))[:500])
            elif method == "Log.entryAdded":
                found.append(parameters["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if not url.startswith("file://") or parameters.get("type") != "Document":
                    found.append("request: " + url[:200])
        return found
