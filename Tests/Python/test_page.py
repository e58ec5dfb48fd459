"""The page shows the example as it is."""

import unittest

import support


class PageTests(unittest.TestCase):
    def test_page_shows_the_example(self) -> None:
        example = (support.ROOT / "Examples/python/agent.py").read_text()
        page = (support.ROOT / "Documentation/embedding.md").read_text()
        self.assertIn(f"```python\n{example}```", page)
        self.assertLess(example.count("\n"), 60)


if __name__ == "__main__":
    unittest.main()
