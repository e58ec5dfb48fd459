"""What the page says of what it does not keep any more, and what it sends again."""
import json
import re
import socket
import subprocess

from inspector import PATIENCE, SEND, InspectorCase


class KeptTests(InspectorCase):
    def flood(self):
        """More than page and emulator keep, in few requests."""
        connection = self.connection()
        for _ in range(320):
            self.call("POST", f"{self.root}/none", {"text": "x" * 60_000}, connection=connection)
        connection.close()
        self.call("GET", f"{self.root}/topics/last")
        self.show("requests")
        self.row("/topics/last", "404")

    def outcome_of(self, name):
        """What the page says when the button is pressed."""
        self.js("document.getElementById('outcome').textContent = ''")
        self.press(name)
        self.until(lambda: self.text("#outcome"), f"something is said of {name}")
        return self.text("#outcome")

    def test_a_message_is_forgotten_whole_and_not_said_to_have_gone_to_nobody(self):
        self.make_topic()
        self.listen()
        nobody = self.send({"n": 0}, self.make_lonely_topic())
        message = self.send({"n": 1})
        self.show(f"message/{nobody}")
        self.until(lambda: "It went to nobody." in self.text(".times"), "nobody was subscribed")
        self.show("messages")
        self.row("newData")
        self.assertEqual(self.text("#missing"), "")
        self.flood()
        self.assertRegex(self.text("#missing"), r"^\d+ older entries are not kept any more\.$")
        self.show("messages")
        self.until(lambda: self.count() == 0, "no message is listed, nor a part of one")
        self.assertIn("not kept any more", self.text("#missing"))
        # In the second round, after the reset, the emulator no longer knows the recipients either.
        for _ in range(2):
            self.open(f"#message/{message}")
            self.until(lambda: "not kept any more" in self.text(".times"), "that is said of the verdict")
            self.assertNotIn("nobody", self.text(".times"))
            self.assertNotIn("as far as the broker knows", self.text(".times"))
            self.assertIn("not kept any more", self.outcome_of("Resend"))
            self.assertIn("not kept any more", self.outcome_of("Copy as curl"))
            self.assertNotIn("by hand", self.text("#outcome"))
            self.expects_network_errors = True
            self.call("POST", "/__kii/reset")

    def make_lonely_topic(self):
        self.make_topic("lonely")
        return "lonely"

    def test_a_verdict_that_comes_late_has_its_message(self):
        self.make_topic()
        self.run_tool("register")
        self.run_tool("subscribe", "alerts")
        message = self.send({"msg": "late"})
        self.flood()
        receiver = self.start("listen")
        receiver.wait_for(type="state", state="connected")
        for _ in range(2):
            self.show("messages")
            row = self.row("newData")
            self.assertIn("push-to-user", row)
            self.assertIn("topics/alerts", row)
            self.show(f"message/{message}")
            self.until(lambda: "newData" in self.text(".times tbody"), "it is shown with its verdict")
            self.assertNotRegex(self.text(".times tbody"), r"(?<!\d)-\d")
            self.assertIn("not kept any more", self.text(".times"))
            # A page that is opened later reports the missing entries too.
            self.open()
            self.assertRegex(self.text("#missing"), r"^\d+ older entries are not kept any more\.$")

    def post(self, target, body):
        """Sends a request whose target nobody corrects. Gives the status."""
        text = json.dumps(body)
        head = [
            f"POST {target} HTTP/1.1", f"Host: {self.address.removeprefix('http://')}", "Connection: close",
            f"Authorization: Bearer {self.token}", f"Content-Type: {SEND}", f"Content-Length: {len(text)}"]
        port = int(self.address.rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as own:
            own.sendall("\r\n".join([*head, "", text]).encode())
            return int(own.makefile("rb").readline().split()[1])

    def test_a_target_that_a_browser_would_change_is_not_sent_again(self):
        self.make_topic()
        targets = [
            "/api/../__kii/reset#/push/messages", "/api/apps/../../__kii/reset#/push/messages",
            f"{self.root}/topics/../../../../__kii/reset#/push/messages",
            f"{self.root}/%2e%2e/%2E%2e/../__kii/reset#/push/messages",
            f"{self.root}\\..\\..\\..\\__kii\\reset#/push/messages",
            f"{self.root}/topics/alerts/../alerts/push/messages",
        ]
        for target in targets:
            self.post(target, {"data": {"n": 1}, "mqtt": {"enabled": True}})
            self.show("requests")
            self.row("POST", target.removeprefix(self.root))
            self.find("kii-list [role=row][aria-rowindex='1']").click()
            self.until(lambda: target in self.text("#detail h2"), f"{target} is shown")
            buttons = self.texts("#detail button")
            if "Resend" in buttons:
                self.press("Resend")
                self.until(lambda: self.text("#outcome"), "something is said of it")
            self.assertEqual(self.call("GET", f"{self.root}/topics/alerts")[0], 204, f"{target} became a reset")
            self.assertNotIn("Resend", buttons, target)
            if "#" in target:
                self.assertIn("Not copied.", self.outcome_of("Copy as curl"), target)

    def test_what_is_copied_as_curl_is_sent_byte_by_byte(self):
        self.driver.execute_cdp_cmd("Browser.grantPermissions", {
            "origin": self.address, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        targets = [
            f"{self.root}/topics/it's/../%2E/it's/push/messages", f"{self.root}/topics/alerts/push/messages?who='$(me)'"]
        for target in targets:
            self.post(target, {"data": {"n": 1}, "mqtt": {"enabled": True}})
            self.show("requests")
            self.until(lambda: self.shown(target) == 1, f"{target} is listed")
            self.find("kii-list [role=row][aria-rowindex='1']").click()
            self.until(lambda: target in self.text("#detail h2"), f"{target} is shown")
            self.assertIn("Copied as curl.", self.outcome_of("Copy as curl"), target)
            text = self.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
            subprocess.run(
                ["sh", "-c", text], env={**self.environment, "TOKEN": self.token}, capture_output=True, check=True,
                timeout=PATIENCE)
            self.until(lambda: self.shown(target) == 2, f"{target} is listed twice")

    def test_a_message_is_sent_again_byte_by_byte(self):
        self.make_topic()
        targets = [f"{self.root}//topics/alerts/push//messages/", f"{self.root}/topics/%61lerts/push/messages"]
        for target in targets:
            self.assertEqual(self.post(target, {"data": {"n": 1}, "mqtt": {"enabled": True}}), 200)
            self.show("requests")
            self.until(lambda: self.shown(target) == 1, f"{target} is listed")
            self.find("kii-list [role=row][aria-rowindex='1']").click()
            self.until(lambda: target in self.text("#detail h2"), f"{target} is shown")
            self.press("Resend")
            self.until(lambda: self.js("return location.hash").startswith("#message/"), "it was sent")
            self.show("requests")
            self.until(lambda: self.shown(target) == 2, f"{target} is listed twice")

    def shown(self, target):
        return sum(re.split(r"\s+", row)[2] == target.removeprefix(self.root) for row in self.rows())

    def test_a_name_of_dots_is_sent_nowhere_else(self):
        self.press("Send…")
        for name in ("..", "user:../todo", "."):
            self.fill("#message [name=name]", name)
            self.find("#message button").click()
            self.until(lambda: "byte by byte" in self.text("#message-problem"), f"{name} is refused")
