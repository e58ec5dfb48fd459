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
    """A message that the library no longer retries."""

    id: int
    #: When the message reached this machine.
    received_at: datetime
    attempts: int
    reason: str
    payload: bytes

    @classmethod
    def _of(cls, json: dict[str, Any]) -> "DeadLetter":
        # "payload_base64" replaces a "payload" that is not UTF-8.
        text, encoded = json.get("payload"), json.get("payload_base64", "")
        payload = base64.b64decode(encoded) if text is None else text.encode()
        return cls(
            json["id"], datetime.fromisoformat(json["received_at"]), json["attempts"], json["reason"], payload
        )


class Runtime:
    """A state directory with an inbox, and the agents that use it. The interpreter closes an open runtime at exit."""

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
        """Opens a runtime. None selects a default.

        - state_directory: default $STATE_DIRECTORY, else kii-push in the user's state directory
        - inbox: default "file"; a message in "memory" does not outlive the process
        - concurrent_handlers: the most handlers that run at once; default 4
        - is_strictly_ordered: whether messages of a source wait while an earlier one is retried; default False
        - retry_delays: seconds before each further attempt; default [1, 5, 30, 300, 1800]
        - shutdown_grace: seconds that handlers have to answer when the runtime is closed; default 10
        - has_control_socket: whether the tool kii-push may query this process; default False
        - certificate_authority_file: certificates in PEM to trust instead of the system's
        - client_certificate_file: a client certificate in PEM
        - client_key_file: its key in PEM, without a password, mode 0600; default: in the certificate's file
        - proxy: the URL of a proxy for the REST API
        - user_agent: the User-Agent field of REST calls; default: the library and libcurl with their versions
        - call_timeout: seconds for a REST call; default 30
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
        # A running agent must outlive the program's references to it.
        self._agents: list[Any] = []
        self._closed = threading.Event()
        _open[self] = None

    def close(self) -> None:
        """Stops the agents, and waits up to `shutdown_grace` for running handlers. A second call does nothing.

        Unanswered messages stay in the inbox. Raises `Error` with the code `CALLBACK` inside a handler.
        """
        is_closed = True
        try:
            call(library().kii_push_close, self._handle)
        except Error as error:
            if error.code == ErrorCode.HANDLE:
                self._closed.wait()  # another thread may still be closing the runtime
            else:
                is_closed = False
                raise
        finally:  # a KeyboardInterrupt arrives after the library has closed the runtime
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
        """Yields all dead letters, oldest first."""
        after = 0
        while page := self._dead_letters(after):
            yield from page
            after = page[-1].id

    def _dead_letters(self, after: int) -> list[DeadLetter]:
        pointer, length = ffi.new("char **"), ffi.new("size_t *")
        call(library().kii_push_dead_letters, self._handle, after, pointer, length)
        return [DeadLetter._of(letter) for letter in json.loads(taken(pointer[0], length[0]))]

    def retry(self, id: int) -> None:
        """Retries a dead letter. Raises `Error` with the code `STATE` if there is none, or if its handler runs."""
        call(library().kii_push_retry, self._handle, id)

    def drop(self, id: int) -> None:
        """Deletes a dead letter. Raises `Error` with the code `STATE` if there is none, or if its handler runs."""
        call(library().kii_push_drop, self._handle, id)


def run(runtime: Runtime) -> int:
    """Runs all agents of a runtime as a service until SIGTERM, SIGINT or a failure that stops an agent.

    Takes over these two signals, notifies systemd, and finally closes the runtime. Returns the exit status: 0, or 75
    for a failure that may pass, or 77 or 78 if a restart would not help. Logs the reason.

    Raises `Error` inside a handler, or if the runtime is closed, has no agent or has a running agent.
    """
    status, error = served(runtime)
    log_end(status, error)
    return status


def served(runtime: Runtime) -> tuple[int, Error]:
    error = ffi.new("kii_push_error *")
    is_closed = True
    try:
        status = library().kii_push_run(runtime._handle, error)
        is_closed = status != os.EX_SOFTWARE
    finally:  # a signal handler's exception arrives after the library has closed the runtime
        if is_closed:
            runtime._forget()
    why = made(error, error.code)
    if not is_closed:
        raise why
    return status, why


def log_end(status: int, error: Error) -> None:
    if status:
        logger.error("%s", error)


_open: dict[Runtime, None] = {}


@atexit.register
def _close() -> None:
    # No thread of the library may call Python after the interpreter has ended.
    for runtime in tuple(_open):
        try:
            runtime.close()
        except Error as error:
            if error.code != ErrorCode.FORKED:
                logger.error("%s", error)
