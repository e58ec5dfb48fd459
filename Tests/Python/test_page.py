"""The page shows the example as it is, and what the README shows runs."""

import subprocess
import unittest

import support
import kii_push


class PageTests(unittest.TestCase):
    def test_page_shows_the_example(self) -> None:
        example = (support.ROOT / "Examples/python/agent.py").read_text()
        page = (support.ROOT / "Documentation/embedding.md").read_text()
        self.assertIn(f"```python\n{example}```", page)
        self.assertLess(example.count("\n"), 60)

    def test_the_readmes_program_runs(self) -> None:
        readme = (support.ROOT / "README.md").read_text()
        program = readme.split("```python\n")[1].split("```")[0]
        status, _, errors = support.ended(f"fake.fake_end_run(-1)\nkey = 'k'\n{program}")
        self.assertEqual((status, errors), (0, ""))

    def test_the_module_has_the_tools_version(self) -> None:
        tool = subprocess.run([support.TOOL, "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(tool.stdout, f"kii-push {kii_push.__version__}\n")


if __name__ == "__main__":
    unittest.main()
