"""Who can use the page: with the keyboard alone, on a narrow screen, in the dark, with a screen reader."""
import os
import pathlib
import unittest

from inspector import InspectorCase
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

TABS = ("requests", "messages", "receivers", "topics", "dead-letters", "faults")
AXE = pathlib.Path(os.environ["KII_BROWSER_AXE"])


class ReachTests(InspectorCase):
    maxDiff = None

    def tearDown(self):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.driver.set_window_size(1280, 900)

    def test_what_one_looks_for_is_in_sight(self):
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        topic = "4e4d9107-ac56-4085-8e9e-c3d6d13f0a1b"
        self.make_topic(topic)
        self.run_tool("register")
        self.run_tool("subscribe", topic)
        self.start("listen").wait_for(type="state", state="connected")
        message = self.send({"msg": "boiler 3"}, topic)
        self.row("POST", "/topics/4e4d91…/push/messages", "200")
        cut = """return [...document.querySelectorAll("kii-list .what")]
            .filter((cell) => cell.title.includes("/push/messages") && cell.scrollWidth > cell.clientWidth)
            .map((cell) => cell.textContent)"""
        self.assertEqual(self.js(cut), [])
        self.show("messages")
        self.row("topics/4e4d91…", "boiler 3", "newData")
        for width in (1280, 400):
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
            self.show(f"message/{message}")
            self.until(lambda: "newData" in self.text(".times tbody"), "the message has its verdict")
            for selector in (".times td.ok", "kii-list .state.ok"):
                right = self.js(
                    "return document.querySelector(arguments[0]).getBoundingClientRect().right", selector)
                self.assertLessEqual(right, width, f"{selector} is off the screen")
            self.picture(f"sight-{width}")

    def prefer(self, scheme):
        features = [
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def fill_the_lists(self):
        """Something of every kind to look at. The second receiver's handler gives up."""
        self.make_topic()
        self.listen("--exec", self.handler("exit 65"))
        self.call("POST", "/__kii/faults", {"path": "/api/apps/*/topics/none", "status": 503, "times": 9})
        self.call("GET", f"{self.root}/topics/none")
        self.call("GET", f"{self.root}/topics/missing")
        message = self.send({"msg": "boiler 3: pressure \u202e2.4 bar", "n": 42})
        self.show("dead-letters")
        self.row("exit status 65")
        return message

    def keys(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def focused(self):
        return self.js(
            """const { id, tagName, dataset, textContent } = document.activeElement;
            return id || dataset.name || (dataset.key ? "row " + dataset.key : tagName + textContent.slice(0, 20));""")

    def test_the_keyboard_is_enough(self):
        self.make_topic()
        messages = [self.send({"n": number}) for number in range(100)]
        self.show("messages")
        self.until(lambda: self.count() == 100, "all are listed")
        self.js("document.activeElement.blur()")
        order = []
        for _ in range(6):
            self.keys(Keys.TAB)
            order.append(self.focused())
            outline = self.js("return getComputedStyle(document.activeElement).outlineStyle")
            self.assertEqual(outline, "solid", f"the focus on {order[-1]} is visible")
        self.assertEqual(order[:5], ["send", "pause", "reset", "tab-messages", "filter"])
        self.assertTrue(order[5].startswith("row "), order)
        self.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
        self.until(lambda: self.js("return location.hash") == f"#message/{messages[97]}", "Enter opens the third row")
        self.keys(Keys.END)
        self.assertEqual(self.js("return document.activeElement.getAttribute('aria-rowindex')"), "100")
        self.keys(Keys.ESCAPE)
        self.until(lambda: self.js("return location.hash") == "#messages", "Escape closes the message")
        self.assertTrue(self.focused().startswith("row "))
        self.keys("/")
        self.assertEqual(self.focused(), "filter")
        self.keys("no such", Keys.ESCAPE)
        self.until(lambda: self.count() == 100, "Escape clears the filter")
        self.assertTrue(self.focused().startswith("row "))
        self.driver.back()
        self.until(lambda: messages[97] in self.text("kii-message h2"), "back leads to the message")
        self.driver.forward()
        self.until(lambda: self.js("return location.hash") == "#messages", "and forward to the list")
        for _ in range(2):
            ActionChains(self.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
        self.assertEqual(self.focused(), "tab-messages")
        self.keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.focused(), "tab-receivers")
        self.until(lambda: self.js("return location.hash") == "#receivers", "an arrow goes to the next tab")

    def test_both_schemes_and_widths(self):
        message = self.fill_the_lists()
        backgrounds = set()
        for scheme in ("light", "dark"):
            self.prefer(scheme)
            for width in (1280, 800):
                self.driver.set_window_size(width, 900)
                self.show(f"message/{message}")
                self.until(lambda: "dead" in self.text(".times tbody"), "the message is shown")
                self.assertTrue(self.js("return document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out")
                self.picture(f"message-{width}-{scheme}")
                self.show("requests")
                self.row("404")
                self.picture(f"requests-{width}-{scheme}")
            backgrounds.add(self.js("return getComputedStyle(document.body).backgroundColor"))
            self.assertEqual(self.js("return document.getAnimations().length"), 0)
        self.assertEqual(len(backgrounds), 2, backgrounds)

    @unittest.skipUnless(AXE.exists(), "axe is not installed")
    def test_axe_finds_nothing_serious(self):
        message = self.fill_the_lists()
        findings = []
        for scheme in ("light", "dark"):
            self.prefer(scheme)
            self.open(f"#message/{message}")
            self.js(AXE.read_text())
            self.until(lambda: "dead" in self.text(".times tbody"), "the message is shown")
            findings += self.violations(f"message, {scheme}")
            for tab in TABS:
                self.show(tab)
                self.until(lambda: self.find(f"#tab-{tab}").get_attribute("aria-selected") == "true", f"{tab} is shown")
                self.row("")
                self.find("kii-list [role=row]").click()
                self.until(lambda: self.text("#detail"), f"a row of {tab} is shown")
                findings += self.violations(f"{tab}, {scheme}")
            self.press("Send…")
            findings += self.violations(f"form, {scheme}")
        self.assertEqual(findings, [])

    def violations(self, place):
        results = self.driver.execute_async_script(
            "axe.run().then(arguments[0], (error) => arguments[0]({ error: String(error) }))")
        self.assertNotIn("error", results)
        return [
            f"{place}: {one['id']}: {one['help']}: {one['nodes'][0]['html']}" for one in results["violations"]
            if one["impact"] in ("serious", "critical")
        ]
