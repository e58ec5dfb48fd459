"""The page shows the example as it is."""

import unittest

import support


class PageTests(unittest.TestCase):
    def test_page_shows_the_example(self) -> None:
        example = (support.ROOT / "Examples/python/agent.py").read_text()
        pages = [page.read_text() for page in (support.ROOT / "Documentation").glob("embedding*.md")]
        self.assertTrue(any(f"```python\n{example}```" in page for page in pages))
        self.assertLess(example.count("\n"), 60)


if __name__ == "__main__":
    unittest.main()
