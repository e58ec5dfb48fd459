"""What can go wrong."""

import functools
from enum import IntEnum
from typing import Any


class ErrorCode(IntEnum):
    """`kii_push_code` of the C interface."""

    #: A text is not UTF-8 or too long, or a number is out of its range.
    ARGUMENT = 1
    #: The runtime is closed, or the message is answered already.
    HANDLE = 2
    #: A setting is wrong. The text names it by its JSON Pointer.
    CONFIGURATION = 3
    #: The package needs a newer library, or one of another major version.
    VERSION = 4
    #: A file or the state directory cannot be used.
    FILE = 5
    #: The network, the cloud or the broker does not answer as it should.
    NETWORK = 6
    #: The cloud refuses: see `Error.status` and `Error.refusal`.
    REFUSED = 7
    #: It cannot be done now, or there is no such message.
    STATE = 8
    #: A handler called what would wait for that handler.
    CALLBACK = 9
    #: The time has passed.
    TIMEOUT = 10
    #: The process is a fork of the one that opened the runtime.
    FORKED = 11


# Where Python has a remedy that the library's text cannot know.
_HINTS: dict[int, str] = {
    ErrorCode.VERSION: "install libkiipush1 and python3-kii-push of one version",
    ErrorCode.CALLBACK: "call it on another thread than the handler's",
    ErrorCode.FORKED: "open the runtime in the child, or use the start method 'spawn' of multiprocessing",
}


class Error(Exception):
    """What the library answers instead of doing what it was asked for."""

    #: An `ErrorCode`, or the number of one that only a newer library has.
    code: ErrorCode | int
    #: The HTTP status of a refusal, else 0.
    status: int
    #: Kii's errorCode of a refusal, else "".
    refusal: str
    #: Whether it may pass by itself, so that the program may be started again.
    is_temporary: bool
    #: What to do about it, where the text does not say so itself.
    hint: str | None

    def __init__(
        self, text: str, code: int, *, status: int = 0, refusal: str = "", is_temporary: bool = False
    ) -> None:
        super().__init__(text)
        self.code = ErrorCode(code) if code in ErrorCode._value2member_map_ else code
        self.status = status
        self.refusal = refusal
        self.is_temporary = is_temporary
        self.hint = _HINTS.get(code)
        if self.hint is not None:
            self.add_note(self.hint)

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception is made again with its text alone, as in the parent of a process pool.
        details: dict[str, Any] = {"status": self.status, "refusal": self.refusal, "is_temporary": self.is_temporary}
        return functools.partial(Error, **details), (str(self), self.code)


class Reject(Exception):
    """A handler raises it where no further attempt would help: the message is a dead letter at once.

    Its text is the reason, and is stored with the message.
    """
