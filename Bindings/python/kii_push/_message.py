"""A message, and its answers."""

import json
from datetime import UTC, datetime, timedelta
from enum import Enum, IntEnum
from functools import cached_property
from typing import Any, NoReturn

from ._error import Error, ErrorCode
from ._library import call, ffi, library

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# The names of Kii's members in a payload with `aps`.
_SHORT_KEYS = {
    "appID": "a",
    "sender": "s",
    "type": "t",
    "when": "w",
    "origin": "o",
    "topic": "to",
    "objectScopeAppID": "sa",
    "objectScopeUserID": "su",
    "objectScopeGroupID": "sg",
    "objectScopeType": "st",
    "bucketID": "bi",
    "bucketType": "bt",
    "objectID": "oi",
    "modifiedAt": "om",
    "objectScopeThingID": "sth",
}


class FetchResult(Enum):
    """What a handler answers. `FAILED` has the message handled again."""

    NEW_DATA = 0
    NO_DATA = 1
    FAILED = 2


class Kind(IntEnum):
    """What sort of push a message is; UNKNOWN is one that a later library names."""

    UNKNOWN = 0
    PUSH_TO_APP = 1
    PUSH_TO_USER = 2
    DIRECT_PUSH = 3
    THING_COMMAND = 4

    @classmethod
    def _missing_(cls, value: object) -> "Kind":
        return cls.UNKNOWN


#: The code points of a reason that are passed on: at most 4 MiB, which the library takes. It stores 500 of them.
_LONGEST = 1 << 20


class Completion:
    """Answers a message after its handler has returned: once, on any thread, within 30 s of the handler's call.

    After that only a success counts, until the next attempt begins. Any other late answer, and a second one, raises
    `Error` with the code `HANDLE` and changes nothing. A completion that is released unanswered has answered `FAILED`.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._is_open = True

    def complete(self, result: FetchResult = FetchResult.NEW_DATA) -> None:
        """Answers the message."""
        call(library().kii_push_complete, self._handle, FetchResult(result).value)
        self._is_open = False

    def fail(self, reason: str) -> None:
        """Answers `FAILED`. The reason of the last attempt is stored with a dead letter."""
        self._answer(library().kii_push_fail, reason)

    def reject(self, reason: str) -> None:
        """Answers that no further attempt would help: the message is a dead letter at once."""
        self._answer(library().kii_push_reject, reason)

    def _answer(self, function: Any, reason: str) -> None:
        text = reason[:_LONGEST].encode("utf-8", "replace")
        call(function, self._handle, text, len(text))
        self._is_open = False

    def __reduce__(self) -> NoReturn:
        # A copy that is released would answer the message.
        raise TypeError("a completion cannot be copied")

    def __del__(self) -> None:
        if self._is_open:
            try:
                self.complete(FetchResult.FAILED)
            except Exception:  # its time has passed, or the interpreter ends
                pass


class Message:
    """A message. It may be kept, and read on any thread."""

    #: The same at each attempt of one message.
    id: int
    #: 1 for the first.
    attempt: int
    kind: Kind
    #: The bytes that came.
    payload: bytes
    #: The topic or bucket as a "kiicloud:" URI; None where the message names none.
    source: str | None
    #: When the message reached this machine, in UTC.
    received_at: datetime

    def __init__(self, raw: Any) -> None:
        self.id = raw.id
        self.attempt = raw.attempt
        self.kind = Kind(raw.kind)
        self.payload = bytes(ffi.buffer(raw.payload, raw.payload_length))
        (value, length) = (ffi.new("const char **"), ffi.new("size_t *"))
        try:
            call(library().kii_push_source, raw, value, length)
            self.source = bytes(ffi.buffer(value[0], length[0])).decode("utf-8", "replace")
        except Error as error:
            if error.code != ErrorCode.STATE:
                raise
            self.source = None
        self.received_at = _EPOCH + timedelta(milliseconds=raw.received_at)
        self._completion = Completion(raw.completion)
        self._is_later = False

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The sender's members ("msg") and Kii's ("topic", "sender", "when"): the payload as JSON.

        Kii's have these names too where the payload has `aps` and the short keys of APNs. Empty where the payload is no
        JSON object.
        """
        try:
            value = json.loads(self.payload.decode())
        except (ValueError, RecursionError):
            return {}
        if not isinstance(value, dict):
            return {}
        if isinstance(value.get("aps"), dict):
            for name, short in _SHORT_KEYS.items():
                if not isinstance(value.get(short), dict | list | None):
                    value.setdefault(name, value[short])
        return value

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The field, or `default` where there is none."""
        return self.fields.get(name, default)

    def later(self) -> Completion:
        """Has the message answered by the completion; what the handler returns does not count then."""
        self._is_later = True
        return self._completion

    def __repr__(self) -> str:
        return f"<kii_push.Message {self.id} {self.kind.name} attempt {self.attempt}>"
