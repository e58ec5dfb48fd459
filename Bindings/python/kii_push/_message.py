import json
from datetime import UTC, datetime, timedelta
from enum import Enum, IntEnum
from functools import cached_property
from typing import Any, NoReturn

from ._error import Error, ErrorCode
from ._library import call, ffi, library

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Kii's field names, and their short forms in payloads for APNs.
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
    """A handler's answer. After `FAILED` the library retries the message."""

    NEW_DATA = 0
    NO_DATA = 1
    FAILED = 2


class Kind(IntEnum):
    """The kind of a message. UNKNOWN is a kind that this version of the package does not know."""

    UNKNOWN = 0
    PUSH_TO_APP = 1
    PUSH_TO_USER = 2
    DIRECT_PUSH = 3
    THING_COMMAND = 4

    @classmethod
    def _missing_(cls, value: object) -> "Kind":
        return cls.UNKNOWN


#: Limit of a reason in code points. The library refuses texts over 4 MiB.
_LONGEST = 1 << 20


class Completion:
    """Answers a message once, on any thread, within 30 s of the handler's call.

    After 30 s only a success still counts, until the next attempt starts. Any other late answer, and a second answer,
    raises `Error` with the code `HANDLE`. An unanswered completion answers `FAILED` when it is garbage-collected.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._is_open = True

    def complete(self, result: FetchResult = FetchResult.NEW_DATA) -> None:
        """Answers the message."""
        call(library().kii_push_complete, self._handle, FetchResult(result).value)
        self._is_open = False

    def fail(self, reason: str) -> None:
        """Answers `FAILED`. A dead letter stores the reason of its last attempt, cut to 500 characters."""
        self._answer(library().kii_push_fail, reason)

    def reject(self, reason: str) -> None:
        """Makes the message a dead letter at once, with this reason."""
        self._answer(library().kii_push_reject, reason)

    def _answer(self, function: Any, reason: str) -> None:
        text = reason[:_LONGEST].encode("utf-8", "replace")
        call(function, self._handle, text, len(text))
        self._is_open = False

    def __reduce__(self) -> NoReturn:
        # `__del__` of a copy would answer the message.
        raise TypeError("a completion cannot be copied")

    def __del__(self) -> None:
        if self._is_open:
            try:
                self.complete(FetchResult.FAILED)
            except Exception:  # too late, or the interpreter ends
                pass


class Message:
    """A received message. It is valid on any thread, and after the handler has returned."""

    #: The same at each attempt.
    id: int
    #: From 1.
    attempt: int
    kind: Kind
    payload: bytes
    #: The topic or bucket as a "kiicloud:" URI; None if the message names none.
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
        """The payload's members: the sender's ("msg") and Kii's ("topic", "sender", "when").

        Kii's short keys for APNs have their long names here. Empty if the payload is no JSON object.
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
        """Returns a field, or `default` if the message has no such field."""
        return self.fields.get(name, default)

    def later(self) -> Completion:
        """Returns the completion that answers the message; the handler's return value is then ignored."""
        self._is_later = True
        return self._completion

    def __repr__(self) -> str:
        return f"<kii_push.Message {self.id} {self.kind.name} attempt {self.attempt}>"
