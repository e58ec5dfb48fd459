"""The package over the Swift library, beside the emulator.

$KII_PUSH_LIBRARY is the library, and $KII_PUSH_TOOL the tool kii-push: without them there is nothing to be tested.
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import unittest
import urllib.request
from typing import Any, ClassVar

import support

#: The beginning of the programs: an agent whose own user sends to it.
PREAMBLE = """
import asyncio, json, logging, os, queue, sys, threading
import kii_push
app = kii_push.App(id=os.environ["KII_APP_ID"], key=os.environ["KII_APP_KEY"], base_url=os.environ["KII_BASE_URL"])

def opened(**settings):
    return kii_push.Runtime(certificate_authority_file=os.environ["KII_CA_FILE"], **settings)

def agent(runtime, handler, kind=kii_push.Agent):
    return kind(runtime, app=app, account=kii_push.PseudoUser(), handler=handler)

def say(*words):
    print(*words, flush=True)
"""


@unittest.skipUnless(support.REAL_LIBRARY and support.TOOL, "KII_PUSH_LIBRARY and KII_PUSH_TOOL are not set")
class EmulatorTests(unittest.TestCase):
    emulator: ClassVar[dict[str, Any]]

    @classmethod
    def setUpClass(cls) -> None:
        directory = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="kii-push-python-"))
        process = subprocess.Popen(
            [
                support.TOOL, "emulator", "--temporary", "--json",
                "--port", "0", "--https-port", "0", "--mqtt-port", "0", "--mqtts-port", "0",
                "--ws-port", "0", "--wss-port", "0",
            ],
            env=os.environ | {f"XDG_{name}": directory for name in ("CONFIG_HOME", "STATE_HOME", "RUNTIME_DIR")},
            stdout=subprocess.PIPE, text=True,
        )
        cls.addClassCleanup(process.communicate)
        cls.addClassCleanup(process.terminate)
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["type"] == "emulator":
                break
        with open(f"{directory}/kii-push/emulator.json") as file:
            cls.emulator = json.load(file)

    def setUp(self) -> None:
        self.state = self.enterContext(tempfile.TemporaryDirectory(prefix="kii-push-python-"))

    def start(self, program: str) -> subprocess.Popen[str]:
        process = support.python(
            PREAMBLE + program,
            library=support.REAL_LIBRARY,
            KII_APP_ID=self.emulator["appID"],
            KII_APP_KEY=self.emulator["appKey"],
            KII_BASE_URL=self.emulator["baseURL"],
            KII_CA_FILE=self.emulator["caFile"],
            STATE_DIRECTORY=self.state,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def ended(self, program: str) -> tuple[int, str, str]:
        process = self.start(program)
        output, errors = process.communicate(timeout=120)
        return process.returncode, output, errors

    def lines(self, process: subprocess.Popen[str], count: int) -> list[str]:
        assert process.stdout is not None
        return [process.stdout.readline().rstrip() for _ in range(count)]

    def test_message_whose_process_is_killed_is_handled_again(self) -> None:
        receiving = """
def handler(message):
    say(message.id, message["msg"], message.kind.name)
    if sys.stdin.read(1) == "x":
        threading.Event().wait()

with opened() as runtime:
    receiver = agent(runtime, handler)
    receiver.register()
    for number in range(int(os.environ.get("COUNT", "0"))):
        receiver.send("user:me", {"msg": f"m{number}"})
    sys.exit(kii_push.run(runtime))
"""
        process = self.start('import os; os.environ["COUNT"] = "3"\n' + receiving)
        self.assertEqual(self.lines(process, 1), ["1 m0 DIRECT_PUSH"])
        process.kill()
        process.communicate()
        process = self.start(receiving)
        assert process.stdin is not None
        process.stdin.write("...")
        process.stdin.flush()
        self.assertEqual(self.lines(process, 3), ["1 m0 DIRECT_PUSH", "2 m1 DIRECT_PUSH", "3 m2 DIRECT_PUSH"])
        process.terminate()
        output, errors = process.communicate()
        self.assertEqual((process.returncode, output, errors), (0, "", ""))

    def test_failures_are_tried_again_and_rejections_are_dead_letters(self) -> None:
        status, output, errors = self.ended(
            """
seen = queue.SimpleQueue()
outcomes = {"good": [ValueError("broken"), None], "bad": [kii_push.Reject("of no use"), None]}

def handler(message):
    seen.put((message["msg"], message.attempt))
    if error := outcomes[message["msg"]].pop(0):
        raise error

with opened(retry_delays=[0.01]) as runtime:
    receiver = agent(runtime, handler)
    dead = queue.SimpleQueue()
    receiver.observe(lambda event: dead.put(event) if event.get("result") == "dead" else None)
    receiver.register()
    receiver.start()
    receiver.send("user:me", {"msg": "good"})
    say(seen.get(), seen.get())
    receiver.send("user:me", {"msg": "bad"})
    say(seen.get())
    dead.get(timeout=60)
    letter, = runtime.dead_letters()
    say(letter.reason, json.loads(letter.payload)["msg"], letter.received_at.tzinfo)
    runtime.retry(letter.id)
    say(seen.get())
    try:
        runtime.drop(4711)
    except kii_push.Error as error:
        say(error.code.name)
"""
        )
        self.assertEqual(status, 0, errors)
        self.assertIn("ValueError: broken", errors)
        first, second, third, *rest = output.splitlines()
        self.assertEqual(first, "('good', 1) ('good', 2)")
        self.assertEqual(second, "('bad', 1)")
        self.assertIn("of no use", third)
        self.assertTrue(third.endswith("bad UTC"), third)
        self.assertEqual(rest, ["('bad', 1)", "STATE"])

    def test_asyncio_and_control_c(self) -> None:
        process = self.start(
            """
async def handler(message):
    say("begun")
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    say("handled", message["msg"])

async def main():
    with opened() as runtime:
        receiver = agent(runtime, handler, kii_push.AsyncAgent)
        await receiver.register()
        await receiver.send("user:me", {"msg": "hi"})
        await receiver.run()

try:
    asyncio.run(main())
except KeyboardInterrupt:
    say("stopped")
"""
        )
        self.assertEqual(self.lines(process, 1), ["begun"])
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate("go\n", timeout=120)
        self.assertEqual((process.returncode, output, errors), (0, "handled hi\nstopped\n", ""))

    def test_asyncio_as_a_service(self) -> None:
        process = self.start(
            """
async def handler(message):
    say("handled", message["msg"])

async def main():
    runtime = opened()
    receiver = agent(runtime, handler, kii_push.AsyncAgent)
    await receiver.register()
    await receiver.send("user:me", {"msg": "hi"})
    return await kii_push.run_async(runtime)

sys.exit(asyncio.run(main()))
"""
        )
        self.assertEqual(self.lines(process, 1), ["handled hi"])
        process.terminate()
        output, errors = process.communicate(timeout=120)
        self.assertEqual((process.returncode, output, errors), (0, "", ""))

    def test_cancelled_service_closes_the_runtime(self) -> None:
        status, output, errors = self.ended(
            """
async def main():
    handled = asyncio.Event()

    async def handler(message):
        handled.set()

    runtime = opened()
    receiver = agent(runtime, handler, kii_push.AsyncAgent)
    await receiver.register()
    await receiver.send("user:me", {})
    running = asyncio.create_task(kii_push.run_async(runtime))
    await handled.wait()
    running.cancel()
    try:
        await running
    except asyncio.CancelledError:
        say("cancelled")

asyncio.run(main())
"""
        )
        self.assertEqual((status, output, errors), (0, "cancelled\n", ""))

    def test_completions_calls_and_refusals(self) -> None:
        status, output, errors = self.ended(
            """
completions = queue.SimpleQueue()
with opened() as runtime:
    receiver = agent(runtime, lambda message: completions.put(message.later()))
    done = queue.SimpleQueue()
    receiver.observe(lambda event: done.put(event) if event.get("result") == "noData" else None)
    receiver.register()
    receiver.start()
    receiver.send("user:me", {})
    completion = completions.get()
    completion.complete(kii_push.FetchResult.NO_DATA)
    done.get(timeout=60)
    for use in [completion.complete, lambda: receiver.call("GET", "/topics/missing"), receiver.start]:
        try:
            use()
        except kii_push.Error as error:
            say(error.code.name, error.status, error.refusal)
    say(json.loads(receiver.call("GET", "/users/me"))["userID"] != "")
try:
    kii_push.Runtime(retry_delays=["x"])
except kii_push.Error as error:
    say(error.code.name, error)
"""
        )
        self.assertEqual((status, errors), (0, ""))
        *lines, last = output.splitlines()
        self.assertEqual(lines, ["HANDLE 0 ", "REFUSED 404 TOPIC_NOT_FOUND", "STATE 0 ", "True"])
        self.assertTrue(last.startswith("CONFIGURATION /retryDelays/0 "), last)

    def administer(self, method: str, path: str) -> None:
        """Makes a call below the app as its administrator."""
        root = f"{self.emulator['baseURL']}/apps/{self.emulator['appID']}"
        body = json.dumps({"client_id": self.emulator["clientID"], "client_secret": self.emulator["clientSecret"]})
        login = urllib.request.Request(
            f"{root}/oauth2/token", body.encode(), {"Content-Type": "application/json"}, method="POST"
        )
        with urllib.request.urlopen(login) as answer:
            token = json.load(answer)["access_token"]
        call = urllib.request.Request(root + path, headers={"Authorization": f"Bearer {token}"}, method=method)
        urllib.request.urlopen(call).close()

    def test_calls_of_the_page_work_as_they_are_written(self) -> None:
        page = (support.ROOT / "Documentation/embedding.md").read_text()
        calls = re.findall(r"`(agent\.(?:call|send)\([^`]*\))`", page)
        self.assertGreater(len(calls), 3)
        self.assertTrue(any("topic:" in call for call in calls))
        program = f"""
make = agent
with opened() as runtime:
    agent = make(runtime, lambda message: None)
    agent.register()
    for call in {calls!r}:
        eval(call)
"""
        self.assertEqual(self.ended(program), (0, "", ""))

    def test_topic_of_the_app_is_the_administrators_until_it_gives_the_right(self) -> None:
        self.administer("PUT", "/topics/alerts")
        program = """
with opened() as runtime:
    receiver = agent(runtime, lambda message: None)
    receiver.register()
    say(json.loads(receiver.call("GET", "/users/me"))["userID"])
    sys.stdin.readline()
    try:
        receiver.send("topic:alerts", {"msg": "hi"})
    except kii_push.Error as error:
        say(error.status, error)
    sys.stdin.readline()
    receiver.send("topic:alerts", {"msg": "hi"})
    say("sent")
"""
        process = self.start(program)
        assert process.stdin is not None
        user, = self.lines(process, 1)
        process.stdin.write("\n")
        process.stdin.flush()
        refusal, = self.lines(process, 1)
        self.assertTrue(refusal.startswith("401 "), refusal)
        self.assertIn("SEND_MESSAGE_TO_TOPIC", refusal)
        self.assertNotIn("sign in again", refusal)
        self.administer("PUT", f"/topics/alerts/acl/SEND_MESSAGE_TO_TOPIC/UserID:{user}")
        output, errors = process.communicate("\n", timeout=120)
        self.assertEqual((process.returncode, output, errors), (0, "sent\n", ""))

    def test_interpreter_ends_with_handlers_that_do_not(self) -> None:
        for endless in ["while True: pass", "threading.Event().wait()"]:
            with self.subTest(endless=endless):
                status, output, errors = self.ended(
                    f"""
begun = threading.Event()

def handler(message):
    begun.set()
    {endless}

runtime = opened(shutdown_grace=0.1)
receiver = agent(runtime, handler)
receiver.register()
receiver.start()
receiver.send("user:me", {{}})
begun.wait()
"""
                )
                self.assertEqual((status, output, errors), (0, "", ""))

    def test_fork_is_answered(self) -> None:
        status, output, errors = self.ended(
            """
handled = threading.Event()
runtime = opened()
receiver = agent(runtime, lambda message: handled.set())
receiver.register()
receiver.start()
child = os.fork()
if not child:
    for use in [receiver.stop, runtime.close, opened]:
        try:
            use()
        except kii_push.Error as error:
            say(error.code.name)
    sys.exit(5)
say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
receiver.send("user:me", {})
handled.wait()
"""
        )
        self.assertEqual((status, output, errors), (0, "FORKED\n" * 3 + "5\n", ""))


if __name__ == "__main__":
    unittest.main()
