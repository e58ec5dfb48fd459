import functools
from enum import IntEnum
from typing import Any


class ErrorCode(IntEnum):
    """`kii_push_code` of the C interface."""

    #: A text is not UTF-8 or too long, or a number is out of its range.
    ARGUMENT = 1
    #: The runtime is closed, or the message is answered already.
    HANDLE = 2
    #: A setting is invalid. The text names it by its JSON Pointer.
    CONFIGURATION = 3
    #: The library is too old, or has another major version.
    VERSION = 4
    #: A file or the state directory cannot be used.
    FILE = 5
    #: The network failed, or the cloud or the broker gave no valid answer.
    NETWORK = 6
    #: The cloud refused: see `Error.status` and `Error.refusal`.
    REFUSED = 7
    #: Not possible now, or there is no such message.
    STATE = 8
    #: A callback called a method that would wait for that callback.
    CALLBACK = 9
    TIMEOUT = 10
    #: The process was forked after the runtime was opened.
    FORKED = 11


# Remedies for Python programs, in addition to the library's text.
_HINTS: dict[int, str] = {
    ErrorCode.VERSION: "install libkiipush1 and python3-kii-push of one version",
    ErrorCode.CALLBACK: "call it on another thread than the handler's",
    ErrorCode.FORKED: "open the runtime in the child, or use the start method 'spawn' of multiprocessing",
}


class Error(Exception):
    """A failure of the library, of the network or of the cloud."""

    #: An `ErrorCode`, or a number that this version of the package does not know.
    code: ErrorCode | int
    #: The HTTP status of a refusal, else 0.
    status: int
    #: Kii's errorCode of a refusal, else "".
    refusal: str
    #: Whether the failure may pass by itself, so that a restart may help.
    is_temporary: bool
    #: A remedy, if the text does not name one.
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
        # By default, unpickling calls `Error` with the text alone.
        details: dict[str, Any] = {"status": self.status, "refusal": self.refusal, "is_temporary": self.is_temporary}
        return functools.partial(Error, **details), (str(self), self.code)


class Reject(Exception):
    """Raised by a handler: makes the message a dead letter at once, with the exception's text as the reason."""
