"""A headless Chromium, driven by its DevTools protocol over a pipe: the standard library is all it takes."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    """One page of a browser that has never been used before."""

    def __init__(self, timeout=60):
        self.timeout = timeout
        self.profile = tempfile.mkdtemp(prefix="thumbs-chromium-")
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        # The browser reads its descriptor 3 and writes 4.
        script = f'exec 3<&{commands} 4>&{answers}; exec "$@"'
        arguments = ["chromium", "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars",
                     "--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage",
                     f"--user-data-dir={self.profile}", "about:blank"]
        if os.geteuid() == 0:
            arguments.insert(1, "--no-sandbox")
        self.process = subprocess.Popen(["bash", "-c", script, "bash"] + arguments, pass_fds=(commands, answers),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        self.send("Performance.enable", timeDomain="threadTicks")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)
        shutil.rmtree(self.profile, ignore_errors=True)

    def send(self, method, **parameters):
        """The answer to a command. Events that come meanwhile are kept in `events`."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def wait(self, event):
        """The first event of that name since the last load."""
        while not any(message.get("method") == event for message in self.events):
            self.events.append(self._read())

    def load(self, url):
        """Goes to a page and returns when it is there, with its pictures near the screen."""
        self.events.clear()
        self.send("Page.navigate", url=url)
        self.wait("Page.loadEventFired")

    def run(self, script):
        """The value of an expression in the page, which may be a promise."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", str(answer)))
        return answer["result"].get("value")

    def work(self):
        """Milliseconds of a processor that the page has taken so far: the same on a busy machine as on an idle one."""
        metrics = self.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration") * 1000

    def key(self, key, text=None):
        """Presses and lets go a key."""
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            extra |= {"windowsVirtualKeyCode": 27} if key == "Escape" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, **extra)

    def size(self, width, height, scale=1, mobile=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)

    def scheme(self, name):
        """`light` or `dark`, as the system would say."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def screenshot(self, path):
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def requests(self):
        """Every address asked for since the last load."""
        return [message["params"]["request"]["url"] for message in self.events
                if message.get("method") == "Network.requestWillBeSent"]

    def complaints(self):
        """What the page's policy or its script ran into since the last load."""
        return [message["params"] for message in self.events
                if message.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")]

    def _read(self):
        end = time.monotonic() + self.timeout
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.answers, 1 << 16) if ready else b""
            if not piece:
                raise RuntimeError("the browser does not answer")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)
