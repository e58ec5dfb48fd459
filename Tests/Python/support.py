"""What the tests share: the package, the fake library, and programs that run beside the test."""

import atexit
import ctypes
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

# A shell makes background jobs ignore SIGINT, and the tests' programs would inherit this.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "Bindings/python"

#: The library and the tool that the tests with the emulator use; "" where there are none.
REAL_LIBRARY = os.environ.get("KII_PUSH_LIBRARY", "")
TOOL = os.environ.get("KII_PUSH_TOOL", "")

_directory = tempfile.TemporaryDirectory(prefix="kii-push-python-")
atexit.register(_directory.cleanup)
FAKE = Path(_directory.name) / "libkiipush-fake.so"

subprocess.run(
    [
        *shlex.split(os.environ.get("CC", "cc")), "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-pthread",
        "-fvisibility=hidden", f"-I{ROOT / 'Sources/CKiiPush/include'}", str(Path(__file__).with_name("fake.c")),
        "-o", str(FAKE),
    ],
    check=True,
)

os.environ["KII_PUSH_LIBRARY"] = str(FAKE)
sys.path.insert(0, str(PACKAGE))

# The functions of the fake library for tests. `ctypes` releases the interpreter's lock during a call.
fake = ctypes.CDLL(str(FAKE))
fake.fake_passed.restype = ctypes.c_char_p
fake.fake_reason.restype = ctypes.c_char_p
fake.fake_deliver.restype = ctypes.c_uint64
fake.fake_answer.argtypes = [ctypes.c_uint64]

NEW_DATA, NO_DATA, FAILED, REJECTED = range(4)

#: The beginning of programs that `python` runs: a runtime, and a way to deliver.
PREAMBLE = f"""
import ctypes, os, sys, threading
import kii_push
fake = ctypes.CDLL({str(FAKE)!r})
fake.fake_deliver.restype = ctypes.c_uint64
fake.fake_answer.argtypes = [ctypes.c_uint64]
app = kii_push.App(id="a", key="k", base_url="http://127.0.0.1")
runtime = kii_push.Runtime()

def agent(handler):
    return kii_push.Agent(runtime, app=app, account=kii_push.PseudoUser(), handler=handler)
"""


def deliver(payload: str = '{"msg":"hi"}') -> int:
    """Delivers a message to the agent made last and waits for its answer."""
    return int(fake.fake_answer(fake.fake_deliver(payload.encode())))


def python(program: str, *, library: str | Path = FAKE, **environment: str) -> subprocess.Popen[str]:
    """Starts a program of its own with the package."""
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(program)],
        env=os.environ | {"PYTHONPATH": str(PACKAGE), "KII_PUSH_LIBRARY": str(library)} | environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )


def ended(program: str) -> tuple[int, str, str]:
    """The exit status, the output and the errors of a program that begins with the preamble."""
    process = python(PREAMBLE + textwrap.dedent(program))
    output, errors = process.communicate(timeout=60)
    return process.returncode, output, errors
