"""Ten thousand rows: none is missing, few are elements, and the memory has a limit."""
import re

from inspector import InspectorCase
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

# Scrolls from end to end, one step a frame, and returns the longest time between two frames.
SCROLL = """
const [steps, done] = arguments, list = document.querySelector("kii-list");
let [step, before, longest] = [0, performance.now(), 0];
requestAnimationFrame(function next(now) {
    longest = Math.max(longest, now - before);
    before = now;
    list.scrollTop = (list.scrollHeight * step) / steps;
    if (step++ < steps) requestAnimationFrame(next);
    else done(longest);
});"""


class CapacityTests(InspectorCase):
    def heap(self):
        """Bytes of JavaScript that are in use."""
        self.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
        metrics = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "JSHeapUsedSize")

    def emulator_memory(self):
        with open(f"/proc/{self.emulator.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1)) << 10

    def send_many(self, count):
        """Sends over one connection; gives the last message's ID."""
        connection = self.connection()
        messages = [self.send({"n": number}, connection=connection) for number in range(count)]
        connection.close()
        return messages[-1]

    def test_ten_thousand_rows(self):
        self.driver.execute_cdp_cmd("Performance.enable", {})
        self.make_topic()
        before = self.heap()
        self.send_many(10_500)
        self.until(lambda: self.count() == 10_000, "10,000 requests are listed")
        self.assertLess(self.js("return document.querySelectorAll('kii-list [role=row]').length"), 120)
        title = self.driver.title
        longest = self.driver.execute_async_script(SCROLL, 300)
        self.assertLess(longest, 1000, "no frame takes a second")
        self.show("messages")
        self.until(lambda: self.count() == 10_000, "and as many messages")
        self.js("document.querySelector('kii-list').focus()")
        ActionChains(self.driver).send_keys(Keys.END).perform()
        self.assertEqual(self.js("return document.activeElement.getAttribute('aria-rowindex')"), "10000")
        self.find("#filter").send_keys("no-such-word")
        self.until(lambda: self.count() == 0, "10,000 rows are filtered")
        self.find("#filter").send_keys(Keys.ESCAPE)
        self.until(lambda: self.count() == 10_000, "and are there again")
        full = self.heap()
        # New messages displace the oldest ones.
        newest = self.send_many(5_000)
        self.until(lambda: self.top() == newest, "the newest is on top")
        self.assertEqual(self.count(), 10_000)
        later = self.heap()
        print(
            f"\n10,000 rows: {(full - before) / 1e6:.1f} MB of JavaScript, "
            f"{(later - before) / 1e6:.1f} MB after 5,000 more; the emulator {self.emulator_memory() / 1e6:.0f} MB; the longest frame {longest:.0f} ms", flush=True)
        self.assertLess(later - full, 8e6, "it does not grow any more")
        self.assertLess(later - before, 64e6)
        self.assertEqual(self.driver.title, title)

    def top(self):
        """The key of the first row."""
        return self.js(
            """document.querySelector("kii-list").scrollTop = 0;
            return document.querySelector("kii-list [aria-rowindex='1']")?.dataset.key""")
