"""The declarations of the package are those of the header."""

import difflib
import re
import sys
import unittest
from pathlib import Path

import support
from kii_push import ErrorCode, FetchResult, Kind, _agent, _cdef, _message
from kii_push._library import ffi

HEADER = support.ROOT / "Sources/CKiiPush/include/kii_push.h"
FIELDS = support.ROOT / "Sources/KiiPushCore/Message/MessageField.swift"
MODULE = support.ROOT / "Bindings/python/kii_push/_cdef.py"


def declarations() -> str:
    """The header without comments, and of the preprocessor's lines only the interface's number."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    text = re.sub(r'#ifdef __cplusplus\n.*?#endif\n', "", text, flags=re.DOTALL)
    text = re.sub(r"^#(?!define KII_PUSH_API ).*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"\s*\n\s*\n", "\n", re.sub(r"[ \t]+\n", "\n", text)).strip() + "\n"


class InterfaceTests(unittest.TestCase):
    def test_declarations_are_those_of_the_header(self) -> None:
        difference = difflib.unified_diff(
            _cdef.CDEF.splitlines(), declarations().splitlines(), MODULE.name, HEADER.name, lineterm=""
        )
        self.assertEqual("\n".join(difference), "", f"write it anew: {sys.executable} {Path(__file__).name} --write")

    def test_enumerations_are_those_of_the_header(self) -> None:
        def members(name: str, prefix: str) -> dict[str, int]:
            return {member.removeprefix(prefix): number for member, number in ffi.typeof(name).relements.items()}

        codes = members("kii_push_code", "KII_PUSH_E_")
        self.assertEqual(codes.pop("KII_PUSH_OK"), 0)
        self.assertEqual(codes, {code.name: code.value for code in ErrorCode})
        kinds = {kind.name: kind.value for kind in Kind if kind is not Kind.UNKNOWN}
        self.assertEqual(members("kii_push_kind", "KII_PUSH_KIND_"), kinds)
        results = members("kii_push_result", "KII_PUSH_")
        self.assertEqual(results.pop("LATER"), _agent.LATER)
        self.assertEqual(results, {result.name: result.value for result in FetchResult})

    def test_names_of_fields_are_those_of_the_library(self) -> None:
        pairs = re.findall(r'case \.\w+: \("(\w+)", "(\w+)"\)', FIELDS.read_text())
        self.assertEqual(dict(pairs), _message._SHORT_KEYS)


if __name__ == "__main__":
    if "--write" in sys.argv:
        head = '"""What kii_push.h declares: written by Tests/Python/test_interface.py --write."""'
        MODULE.write_text(f'{head}\n\nCDEF = """\\\n{declarations()}"""\n')
    else:
        unittest.main()
