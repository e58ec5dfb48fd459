"""The runtime, and running it as a service."""

import atexit
import base64
import json
import logging
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, Self

from ._error import Error, ErrorCode
from ._library import call, ffi, json_object, library, made, taken

logger = logging.getLogger("kii_push")


@dataclass(frozen=True)
class DeadLetter:
    """A message that was given up on."""

    id: int
    #: When it reached this machine.
    received_at: datetime
    attempts: int
    reason: str
    payload: bytes

    @classmethod
    def _of(cls, json: dict[str, Any]) -> "DeadLetter":
        # A payload that is not UTF-8 is no text.
        text, encoded = json.get("payload"), json.get("payload_base64", "")
        payload = base64.b64decode(encoded) if text is None else text.encode()
        return cls(
            json["id"], datetime.fromisoformat(json["received_at"]), json["attempts"], json["reason"], payload
        )


class Runtime:
    """A state directory with an inbox, and the agents that receive into it.

    A runtime that nobody closes is closed when the interpreter ends, in order.
    """

    def __init__(
        self,
        *,
        state_directory: str | os.PathLike[str] | None = None,
        inbox: Literal["file", "memory"] | None = None,
        concurrent_handlers: int | None = None,
        is_strictly_ordered: bool | None = None,
        retry_delays: Sequence[float] | None = None,
        shutdown_grace: float | None = None,
        has_control_socket: bool | None = None,
        certificate_authority_file: str | os.PathLike[str] | None = None,
        client_certificate_file: str | os.PathLike[str] | None = None,
        client_key_file: str | os.PathLike[str] | None = None,
        proxy: str | None = None,
        user_agent: str | None = None,
        call_timeout: float | None = None,
    ) -> None:
        """Opens a runtime; None is the library's default.

        - state_directory: $STATE_DIRECTORY, else kii-push in the user's state directory
        - inbox: "file"; a message in "memory" does not outlive the process
        - concurrent_handlers: how many handlers run at once; 4
        - is_strictly_ordered: whether messages of one source wait for one that is tried again; False
        - retry_delays: seconds before each further attempt; after the last one a message is a dead letter
        - shutdown_grace: seconds that handlers have to answer when the runtime is closed; 10
        - has_control_socket: whether the tool kii-push may ask this process; False
        - certificate_authority_file: certificates in PEM to trust instead of the system's
        - client_certificate_file: a certificate in PEM for servers that ask for one
        - client_key_file: the key to it in PEM, without a password, mode 0600; in the certificate's file
        - proxy: the URL of one for the REST API
        - user_agent: the field User-Agent of calls of the REST API; the library and libcurl with their versions
        - call_timeout: seconds for a call of the REST API; 30
        """
        settings = json_object(
            stateDirectory=None if state_directory is None else os.fspath(state_directory),
            inbox=inbox,
            concurrentHandlers=concurrent_handlers,
            isStrictlyOrdered=is_strictly_ordered,
            retryDelays=None if retry_delays is None else list(retry_delays),
            shutdownGrace=shutdown_grace,
            hasControlSocket=has_control_socket,
            certificateAuthorityFile=(
                None if certificate_authority_file is None else os.fspath(certificate_authority_file)
            ),
            clientCertificateFile=None if client_certificate_file is None else os.fspath(client_certificate_file),
            clientKeyFile=None if client_key_file is None else os.fspath(client_key_file),
            proxy=proxy,
            userAgent=user_agent,
            callTimeout=call_timeout,
        )
        handle = ffi.new("kii_push_runtime *")
        call(library().kii_push_open, library().KII_PUSH_API, settings, len(settings), handle)
        self._handle: int = handle[0]
        # Agents are kept here: one that runs goes on when the program lets go of it.
        self._agents: list[Any] = []
        self._closed = threading.Event()
        _open[self] = None

    def close(self) -> None:
        """Stops the agents, gives running handlers their grace, and stores what they have not answered.

        No handler is called after that. Closing twice is fine. A handler cannot close its own runtime (`CALLBACK`).
        """
        is_closed = True
        try:
            call(library().kii_push_close, self._handle)
        except Error as error:
            if error.code == ErrorCode.HANDLE:
                self._closed.wait()  # another thread may be closing it still
            else:
                is_closed = False
                raise
        finally:  # Control-C is raised when the library has closed it
            if is_closed:
                self._forget()

    def _forget(self) -> None:
        self._closed.set()
        for agent in self._agents:
            agent._forget()
        self._agents = []
        _open.pop(self, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def dead_letters(self) -> Iterator[DeadLetter]:
        """The messages that were given up on, oldest first."""
        after = 0
        while page := self._dead_letters(after):
            yield from page
            after = page[-1].id

    def _dead_letters(self, after: int) -> list[DeadLetter]:
        pointer, length = ffi.new("char **"), ffi.new("size_t *")
        call(library().kii_push_dead_letters, self._handle, after, pointer, length)
        return [DeadLetter._of(letter) for letter in json.loads(taken(pointer[0], length[0]))]

    def retry(self, id: int) -> None:
        """Has a dead letter handled again. `Error` with the code `STATE` where there is none."""
        call(library().kii_push_retry, self._handle, id)

    def drop(self, id: int) -> None:
        """Removes a dead letter for good. `Error` with the code `STATE` where there is none."""
        call(library().kii_push_drop, self._handle, id)


def run(runtime: Runtime) -> int:
    """Runs all agents of a runtime as a service, until SIGTERM or SIGINT, or until an agent stops by itself.

    Takes over these two signals, tells systemd, and closes the runtime at the end. Returns the status to exit with: 0;
    75 where the failure may pass; 77 or 78 where starting again would not help. The logger says why.

    Raises `Error` inside a handler, and for a runtime that is closed, has no agent or has one that runs.
    """
    status, error = served(runtime)
    log_end(status, error)
    return status


def served(runtime: Runtime) -> tuple[int, Error]:
    """How the service of a runtime has ended, and why."""
    error = ffi.new("kii_push_error *")
    is_closed = True
    try:
        status = library().kii_push_run(runtime._handle, error)
        is_closed = status != os.EX_SOFTWARE
    finally:  # what a signal handler raises comes when the library has closed it
        if is_closed:
            runtime._forget()
    why = made(error, error.code)
    if not is_closed:
        raise why
    return status, why


def log_end(status: int, error: Error) -> None:
    """Logs why a service has failed."""
    if status:
        logger.error("%s", error)


# In the order in which they were opened.
_open: dict[Runtime, None] = {}


@atexit.register
def _close() -> None:
    # Callbacks on threads of the library must have ended before the interpreter does.
    for runtime in tuple(_open):
        try:
            runtime.close()
        except Error as error:
            if error.code != ErrorCode.FORKED:
                logger.error("%s", error)
