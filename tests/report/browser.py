"""A headless Chromium, driven over its DevTools protocol through a pipe: the standard library is enough."""

import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def program():
    """The path of a Chromium, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """A page in a window of this size; an exception in its scripts fails the call that meets it."""

    def __init__(self, url, width=1280, height=900, dark=False, phone=False):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()

        def third_and_fourth():
            # Above 4 first: the one may be where the other has to go.
            high = [os.dup(to_browser), os.dup(from_browser)]
            high = [os.dup2(one, 100 + i) for i, one in enumerate(high)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "about:blank"],
            preexec_fn=third_and_fourth, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.numbers = itertools.count(1)
        self.rest = b""
        self.session = None
        self.errors = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Runtime.enable")
        self.call("Page.enable")
        self.call("Performance.enable", timeDomain="threadTicks")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=url)
        self.wait("document.documentElement?.dataset.drawn === 'yes'")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.folder.cleanup()

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise RuntimeError("the browser has gone")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        number = next(self.numbers)
        command = {"id": number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("method") == "Runtime.exceptionThrown":
                self.errors.append(answer["params"]["exceptionDetails"])
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def value(self, expression):
        """What a JavaScript expression gives, as JSON has it."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not self.value(condition):
            if time.monotonic() > end or self.errors:
                raise RuntimeError(f"{condition} does not come true; {self.errors}")
            time.sleep(0.02)

    def seconds(self):
        """What the page's thread has computed so far, in seconds of a processor: its scripts, its layout, its drawing."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def listeners(self):
        """The listeners for events that the page keeps alive."""
        self.call("HeapProfiler.collectGarbage")
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "JSEventListeners")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, **more)

    def click(self, selector):
        """Scrolls to the element and clicks into its middle."""
        x, y = self.place(selector)
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)

    def drag(self, selector, low, high):
        """Drags down over an element, from the share `high` of its height (1: its top) to `low`."""
        x, top, height = self.place(selector, "[box.x + box.width / 2, box.y, box.height]")
        self.mouse("mousePressed", x, top + (1 - high) * height)
        self.mouse("mouseMoved", x, top + (1 - low) * height, buttons=1)
        self.mouse("mouseReleased", x, top + (1 - low) * height)

    def place(self, selector, of="[box.x + box.width / 2, box.y + box.height / 2]"):
        found = f"document.querySelector({json.dumps(selector)})"
        return self.value(f"{found}.scrollIntoView({{block: 'center', inline: 'center', behavior: 'instant'}}), "
                          f"(box => {of})({found}.getBoundingClientRect())")
