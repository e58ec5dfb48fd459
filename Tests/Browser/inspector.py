"""A browser at an emulator's page, and the programs beside it. What a test starts, it ends."""
import http.client
import json
import os
import pathlib
import queue
import socket
import subprocess
import tempfile
import threading
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

TOOL = os.environ["KII_BROWSER_TOOL"]
FOLDER = pathlib.Path(os.environ["KII_BROWSER_FOLDER"])
# Seconds that a test waits for a condition; a test ends as soon as its condition is met.
PATIENCE = 120
SEND = "application/vnd.kii.SendPushMessageRequest+json"

ROWS = """return [...document.querySelectorAll("kii-list [role=row]")]
    .sort((one, other) => one.getAttribute("aria-rowindex") - other.getAttribute("aria-rowindex"))
    .map((row) => [...row.children].map((cell) => cell.textContent).join(" "))"""


class Program:
    """A kii-push whose lines of JSON are read while it runs."""

    def __init__(self, arguments, environment, log):
        self.process = subprocess.Popen(
            [TOOL, *arguments, "--json"], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def wait_for(self, **members):
        """The next line that has these members."""
        while (line := self.lines.get(timeout=PATIENCE)) is not None:
            if members.items() <= line.items():
                return line
        raise AssertionError(f"the program ended with {self.process.wait()} before it said {members}")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        self.process.stdout.close()


class Relay:
    """A way to the emulator that can be cut."""

    def __init__(self, address):
        self.target = ("127.0.0.1", int(address.rsplit(":", 1)[1]))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.is_cut = False
        self.sockets = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.is_cut:
                client.close()
                continue
            server = socket.create_connection(self.target)
            self.sockets += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def cut(self):
        self.is_cut = True
        for one in self.sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def mend(self):
        self.is_cut = False

    def stop(self):
        self.cut()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for one in self.sockets:
            one.close()


class InspectorCase(unittest.TestCase):
    """Each test has an emulator of its own; the tests of a class share a browser."""

    @classmethod
    def setUpClass(cls):
        home = tempfile.TemporaryDirectory(prefix="kii-browser-")
        cls.addClassCleanup(home.cleanup)
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in (
            "--headless=new", "--disable-dev-shm-usage", "--no-first-run", "--disable-component-update",
            "--disable-background-networking", "--enable-precise-memory-info", f"--user-data-dir={home.name}/profile",
            # The browser resolves no other host.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ):
            options.add_argument(argument)
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = Service(
            "/usr/bin/chromedriver", log_path=str(FOLDER / "chromedriver.log"), env={**os.environ, "HOME": home.name})
        cls.driver = webdriver.Chrome(service=service, options=options)
        cls.addClassCleanup(cls.driver.quit)
        cls.driver.set_script_timeout(PATIENCE)
        cls.driver.set_window_size(1280, 900)

    def setUp(self):
        work = tempfile.TemporaryDirectory(prefix="kii-browser-")
        self.addCleanup(work.cleanup)
        self.work = pathlib.Path(work.name)
        self.log = open(FOLDER / "programs.log", "ab")
        self.addCleanup(self.log.close)
        self.environment = dict(os.environ)
        for name in ("CONFIG_HOME", "STATE_HOME", "RUNTIME_DIR"):
            (self.work / name).mkdir(mode=0o700)
            self.environment[f"XDG_{name}"] = str(self.work / name)
        # Set by tests that provoke refusals or cut connections: the browser logs these as errors.
        self.expects_network_errors = False
        self.emulator = self.start_emulator()
        self.open()
        self.addCleanup(self.check_console)
        self.addCleanup(self.driver.get, "about:blank")

    def check_console(self):
        entries = [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        if self.expects_network_errors:
            entries = [entry for entry in entries if entry["source"] != "network"]
        self.assertEqual(entries, [])

    # Programs

    def start(self, *arguments):
        program = Program(arguments, self.environment, self.log)
        self.addCleanup(program.stop)
        return program

    def start_emulator(self):
        self.token = None
        names = ("port", "https-port", "mqtt-port", "mqtts-port", "ws-port", "wss-port")
        ports = [word for name in names for word in (f"--{name}", "0")]
        emulator = self.start("emulator", "--directory", str(self.work / "emulator"), *ports)
        line = emulator.wait_for(type="emulator")
        self.app = json.loads(pathlib.Path(line["file"]).read_text())
        self.root = f"/api/apps/{self.app['appID']}"
        self.address = line["baseURL"].removesuffix("/api")
        status, answer = self.call("POST", "/api/oauth2/token", {
            "client_id": self.app["clientID"], "client_secret": self.app["clientSecret"]})
        self.assertEqual(status, 200)
        self.token = answer["access_token"]
        return emulator

    def run_tool(self, *arguments):
        """What a kii-push printed that has ended well, a line of JSON each."""
        result = subprocess.run(
            [TOOL, *arguments, "--json"], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self.log, timeout=PATIENCE)
        self.assertEqual(result.returncode, 0, f"{arguments}: {result.stdout}")
        return [json.loads(line) for line in result.stdout.splitlines()]

    def listen(self, *arguments):
        """A receiver of the topic `alerts`, connected."""
        self.run_tool("register")
        self.run_tool("subscribe", "alerts")
        receiver = self.start("listen", *arguments)
        receiver.wait_for(type="state", state="connected")
        return receiver

    def handler(self, text):
        program = self.work / "handler"
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o700)
        return str(program)

    # The cloud

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", int(self.address.rsplit(":", 1)[1]), timeout=PATIENCE)

    def call(self, method, path, body=None, media_type="application/json", connection=None):
        own = connection or self.connection()
        headers = {"Content-Type": media_type}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        own.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = own.getresponse()
        text = response.read()
        if not connection:
            own.close()
        return response.status, json.loads(text) if text else None

    def make_topic(self, name="alerts"):
        self.assertEqual(self.call("PUT", f"{self.root}/topics/{name}")[0], 204)

    def send(self, data, name="alerts", connection=None, status=200):
        body = {"data": data, "mqtt": {"enabled": True}}
        found, answer = self.call("POST", f"{self.root}/topics/{name}/push/messages", body, SEND, connection)
        self.assertEqual(found, status)
        return answer.get("pushMessageID")

    # The page

    def open(self, fragment="", address=None):
        self.driver.get("about:blank")
        self.driver.get(f"{address or self.address}/__kii/ui{fragment}")
        self.until(lambda: "stream live" in self.text("#stream"), "the stream is live")

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, condition, what):
        WebDriverWait(self.driver, PATIENCE, poll_frequency=0.05).until(lambda _: condition(), f"waited until {what}")

    def text(self, selector):
        """The text of all that match, as a person sees it; empty without."""
        return "\n".join(self.texts(selector))

    def texts(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)", selector)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def rows(self):
        return self.js(ROWS)

    def row(self, *words):
        """Waits for a row with all these words, and gives its text."""
        found = []

        def is_there():
            found[:] = [row for row in self.rows() if all(word in row for word in words)]
            return found

        self.until(is_there, f"a row has {words}")
        return found[0]

    def count(self):
        return int(self.find("kii-list").get_attribute("aria-rowcount"))

    def show(self, fragment):
        """Goes to an address of the page, as a link does."""
        self.js("location.hash = arguments[0]", fragment)

    def press(self, text):
        """Presses the button with that text."""
        self.js(
            """const all = [...document.querySelectorAll("button")].filter((one) => one.checkVisibility());
            all.find((one) => one.textContent === arguments[0]).click()""", text)

    def part(self, name):
        """Shows a part of the message, once the message is there."""
        selector = f"kii-message [data-name={name}]"
        self.until(lambda: self.driver.find_elements(By.CSS_SELECTOR, selector), f"the message has {name}")
        self.find(selector).click()

    def fill(self, selector, text):
        field = self.find(selector)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)

    def picture(self, name):
        self.driver.save_screenshot(str(FOLDER / f"{name}.png"))
