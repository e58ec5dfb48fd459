"""What a developer does at the page: looks at a push, sends, breaks and mends."""
import os
import re
import subprocess

from inspector import PATIENCE, TOOL, InspectorCase, Relay
from selenium.webdriver.common.keys import Keys


class FlowTests(InspectorCase):
    def test_a_push_appears_with_its_verdict(self):
        self.make_topic()
        self.listen()
        message = self.send({"msg": "boiler 3"})
        self.row("POST", "/topics/alerts/push/messages", "200", "→ 1")
        self.row("online")
        self.until(lambda: "1 online" in self.text("#online"), "one is online")
        self.show("messages")
        self.row("push-to-user", "alerts", "newData")
        self.find("kii-list [role=row]").click()
        self.until(lambda: self.js("return location.hash") == f"#message/{message}", "the message has its address")
        self.until(lambda: "newData" in self.text(".times tbody"), "the timeline has the verdict")
        # Four numbers: the times at the broker, of storing, of acknowledging and of handing over.
        def numbers():
            return [re.fullmatch(r"\d+", cell) for cell in self.texts(".times tbody tr:first-child td")[3:]]
        self.until(lambda: len(numbers()) == 4 and all(numbers()), "each step has its time")
        self.part("mqtt")
        self.until(lambda: '"msg": "boiler 3"' in self.text("kii-message pre"), "the payload is shown")
        self.part("apns")
        self.assertIn("Nothing was written for this network.", self.text("kii-message"))
        self.part("request")
        self.assertIn("pushMessageID", self.text("kii-message pre"))
        # The page finds the message from the address alone.
        self.open(f"#message/{message}")
        self.until(lambda: "newData" in self.text(".times tbody"), "the address leads to the message")
        self.show("receivers")
        self.row("receiver", "online")

    def test_a_second_attempt_is_seen(self):
        self.make_topic()
        self.listen("--exec", self.handler('[ "$KII_PUSH_ATTEMPT" = 2 ] || exit 75'))
        self.show(f"message/{self.send({'msg': 'again'})}")
        self.until(lambda: "newData" in self.text(".times tbody"), "the second attempt is done")
        rows = self.texts(".times tbody tr")
        self.assertEqual(len(rows), 2, rows)
        self.assertIn("failed", rows[0])
        self.assertIn("again after 1 s", rows[0])

    def test_a_message_is_sent_again_as_it_was_and_edited(self):
        self.make_topic()
        first = self.send({"n": 1, "msg": "one"})
        self.show(f"message/{first}")
        self.until(lambda: first in self.text("kii-message h2"), "it is shown")
        self.press("Resend")
        self.until(lambda: first not in self.js("return location.hash"), "the page goes to the new message")
        second = self.js("return location.hash").removeprefix("#message/")
        self.until(lambda: second in self.text("kii-message h2"), "the new one is shown")
        self.part("mqtt")
        self.until(lambda: '"msg": "one"' in self.text("kii-message pre"), "it says the same")
        self.press("Edit & send…")
        self.assertEqual(self.find("#message [name=name]").get_property("value"), "alerts")
        self.fill("#message [name=json]", '{"msg":{"nested":1}}')
        self.assertIn("msg is nested", self.text("#message-problem"))
        self.press("Send")
        self.assertTrue(self.find("#sending").is_displayed(), "what is wrong is not sent")
        self.fill("#message [name=json]", '{"big":12345678901234567890}')
        self.press("Send")
        self.until(lambda: not self.find("#sending").is_displayed(), "the form is closed")
        self.until(lambda: second not in self.text("kii-message h2"), "the edited message is shown")
        self.part("mqtt")
        # JavaScript's numbers cannot hold these digits.
        self.until(lambda: "12345678901234567890" in self.text("kii-message pre"), "the number is whole")

    def test_a_refused_message_says_why(self):
        self.expects_network_errors = True
        self.press("Send…")
        self.fill("#message [name=name]", "nowhere")
        self.press("Send")
        self.until(lambda: "404 TOPIC_NOT_FOUND" in self.text("#message-problem"), "the refusal is shown")
        self.find("#message [name=json]").send_keys(Keys.ESCAPE)
        self.until(lambda: not self.find("#sending").is_displayed(), "Escape closes the form")

    def test_what_is_copied_sends_the_message(self):
        self.driver.execute_cdp_cmd("Browser.grantPermissions", {
            "origin": self.address, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        self.make_topic()
        first = self.send({"msg": "'quoted'\u202e", "n": 1})
        self.show(f"message/{first}")
        self.until(lambda: "alerts" in self.text("kii-message h2"), "it is shown")
        texts = {}
        for name in ("curl", "kii-push", "Swift"):
            self.press(f"Copy as {name}")
            self.until(lambda: f"Copied as {name}." in self.text("#outcome"), f"{name} is copied")
            texts[name] = self.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
        message = r"""PushMessage(data: ["msg": "'quoted'\u{202e}", "n": 1])"""
        self.assertEqual(texts["Swift"], f'try await session.send({message}, to: .topic(Topic("alerts")))')
        directory = self.work / "bin"
        directory.mkdir()
        (directory / "kii-push").symlink_to(TOOL)
        environment = {**self.environment, "TOKEN": self.token, "PATH": f"{directory}:{os.environ['PATH']}"}
        self.run_tool("register")
        for name in ("curl", "kii-push"):
            self.assertNotIn("\u202e", texts[name])
            result = subprocess.run(["bash", "-c", texts[name]], env=environment, capture_output=True, timeout=PATIENCE)
            self.assertEqual(result.returncode, 0, result)
        self.show("messages")
        self.until(lambda: self.count() == 3, "there are three messages")
        _, answer = self.call("GET", "/__kii/messages")
        for message in answer["messages"]:
            _, record = self.call("GET", f"/__kii/messages/{message['pushMessageID']}")
            self.assertEqual(record["renderings"]["mqtt"]["msg"], "'quoted'\u202e")

    def test_a_fault_is_injected_and_seen(self):
        self.make_topic()
        self.find("#tab-faults").click()
        self.fill("#fault [name=path]", "/api/apps/*/topics/*/push/messages")
        self.fill("#fault [name=status]", "503")
        self.press("Add fault")
        self.row("any", "/api/apps/*/topics/*/push/messages", "503", "× 1")
        self.send({"msg": "hi"}, status=503)
        self.until(lambda: self.count() == 0, "the fault is used up")
        self.send({"msg": "hi"})
        self.show("requests")
        self.row("POST", "/push/messages", "503")
        self.row("POST", "/push/messages", "200")

    def test_a_script_of_faults(self):
        self.expects_network_errors = True
        self.make_topic()
        self.show("faults")
        self.fill("#script textarea", "no such thing")
        self.press("Run script")
        self.until(lambda: "line 1, column 1" in self.text("#script output"), "the place that is wrong is named")
        self.fill("#script textarea", "answer 503 for 1 request to GET /api/apps/*/topics/none")
        self.press("Run script")
        self.row("line 1", "answer 503", "running")
        self.assertEqual(self.call("GET", f"{self.root}/topics/none")[0], 503)
        self.row("line 1", "done")
        self.fill("#fault [name=delay]", "0.5")
        self.press("Add fault")
        self.row("any", "/**", "delay 0.5 s")
        self.press("Remove all faults")
        self.until(lambda: "delay" not in "".join(self.rows()), "the fault is gone")

    def test_a_dead_letter_is_retried(self):
        self.make_topic()
        flag = self.work / "flag"
        self.listen("--exec", self.handler(f"[ -e '{flag}' ] || exit 65"))
        message = self.send({"msg": "<b>heavy</b>"})
        self.show(f"message/{message}")
        self.until(lambda: "Retry" in self.text(".times td.bad button"), "it can be retried where its verdict is")
        color = "return getComputedStyle(document.querySelector(arguments[0])).color"
        self.assertEqual(self.js(color, ".times td.bad button"), self.js(color, "body"))
        self.show("dead-letters")
        self.row("exit status 65")
        self.find("kii-list [role=row]").click()
        self.until(lambda: "<b>heavy</b>" in self.text("#detail pre"), "the payload is shown")
        flag.touch()
        self.press("Retry")
        self.until(lambda: self.count() == 0, "there is no dead letter any more")
        self.show(f"message/{message}")
        self.until(lambda: "newData" in self.text(".times tbody"), "the message is done")
        self.assertIn("dead", self.text(".times tbody"))

    def test_the_filter(self):
        self.make_topic("alerts")
        self.make_topic("news")
        self.call("GET", f"{self.root}/topics/none")
        self.row("/topics/none", "404")
        everything = self.count()
        field = self.find("#filter")
        for text, expected in (("4xx", ["/topics/none"]), ("PUT alerts", ["/topics/alerts"]), ("nothing-like-it", [])):
            field.clear()
            field.send_keys(text)
            self.until(
                lambda: self.count() == len(expected) and [row.split()[2] for row in self.rows()] == expected,
                f"{text} filters")
        field.send_keys(Keys.ESCAPE)
        self.until(lambda: self.count() == everything, "Escape clears the filter")

    def test_the_list_pauses_and_the_stream_does_not(self):
        self.make_topic()
        self.send({"n": 1})
        self.show("messages")
        self.until(lambda: self.count() == 1, "the first is listed")
        self.press("Pause")
        second = self.send({"n": 2})
        self.show(f"message/{second}")
        self.until(lambda: second in self.text("kii-message h2"), "the second is shown")
        self.until(
            lambda: self.part("request") or "pushMessageID" in self.text("kii-message pre"), "the stream told of it")
        self.assertEqual(self.count(), 1)
        self.assertIn("paused", self.text("#stream"))
        self.press("Resume")
        self.until(lambda: self.count() == 2, "both are listed")

    def test_a_reset_forgets(self):
        self.make_topic()
        self.show("topics")
        self.row("topic", "alerts")
        self.find("#reset").click()
        self.driver.switch_to.alert.accept()
        self.until(lambda: self.count() == 0, "there is no topic any more")
        self.assertIn("forgotten", self.text("#outcome"))

    def test_payloads_are_text(self):
        self.make_topic()
        heavy = "<img src=x onerror=document.title='caught'></pre><script>document.title='caught'</script>"
        message = self.send(
            {"msg": heavy, "turn": "abc\u202edef", "control": "a\x9b31m\x7f\u2028b", "emoji": "👩\u200d🚒"})
        self.show(f"message/{message}")
        self.part("mqtt")
        self.until(lambda: "</pre><script>" in self.text("kii-message pre"), "markup is shown as it is")
        self.assertEqual(self.js("return document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.js("return document.querySelectorAll('script').length"), 1)
        marks = self.js("return [...document.querySelectorAll('kii-message pre .mark')].map((one) => one.textContent)")
        self.assertIn(r"\u{202E}", marks)
        content = self.js("return document.querySelector('kii-message pre').textContent")
        for hidden in "\u202e\x9b\x7f\u2028":
            self.assertNotIn(hidden, content)
        self.assertIn("👩\u200d🚒", content)
        self.assertEqual(self.driver.title, "kii-push emulator")

    def test_a_stream_that_breaks_goes_on_without_a_loss(self):
        self.expects_network_errors = True
        self.make_topic()
        relay = Relay(self.address)
        self.addCleanup(relay.stop)
        self.open(address=relay.address)
        relay.cut()
        self.until(lambda: "stream down" in self.text("#stream"), "it says that the stream is down")
        for number in range(300):
            self.send({"n": number})
        relay.mend()
        self.show("messages")
        self.until(lambda: self.count() == 300, "all that was sent meanwhile is there")
        self.assertIn("stream live", self.text("#stream"))

    def test_another_start_clears_the_page(self):
        self.expects_network_errors = True
        self.make_topic("of-before")
        self.row("/topics/of-before")
        self.emulator.stop()
        self.until(lambda: "stream down" in self.text("#stream"), "it says that the stream is down")
        address = self.address
        self.start_emulator()
        self.assertEqual(self.address, address)
        self.make_topic("of-now")
        self.row("/topics/of-now")
        self.assertNotIn("of-before", "".join(self.rows()))
        # The page uses the token of the new start.
        self.press("Send…")
        self.fill("#message [name=name]", "of-now")
        self.press("Send")
        self.until(lambda: "of-now" in self.text("kii-message h2"), "the page sends again")
