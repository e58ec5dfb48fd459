import contextlib
import inspect
import itertools
import json
import math
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ._configuration import App, Bucket, PseudoUser, Thing, Topic, User, members, require, setting
from ._error import Error, ErrorCode, Reject
from ._library import call, ffi, json_object, library, taken
from ._message import FetchResult, Message
from ._runtime import Runtime, logger

Handler = Callable[[Message], FetchResult | None]
Observer = Callable[[dict[str, Any]], object]

#: `KII_PUSH_LATER`. Not in `FetchResult`: handlers call `Message.later`.
LATER = 3

# A callback's context is a key of these dictionaries, not an address, which could be stale.
_numbers = itertools.count(1)
_receivers: dict[int, Callable[[Any], int]] = {}
_observers: dict[int, Observer] = {}


@ffi.callback("kii_push_handler", error=FetchResult.FAILED.value)  # type: ignore[untyped-decorator]
def _receive(context: Any, raw: Any) -> int:
    receiver = _receivers.get(int(ffi.cast("uintptr_t", context)))
    return FetchResult.FAILED.value if receiver is None else receiver(raw)


@ffi.callback("kii_push_observer")  # type: ignore[untyped-decorator]
def _observe(context: Any, characters: Any, length: int) -> None:
    observer = _observers.get(int(ffi.cast("uintptr_t", context)))
    if observer is None:
        return
    try:
        observer(json.loads(bytes(ffi.buffer(characters, length))))
    except BaseException:
        logger.exception("an observer of events has raised")


def is_coroutine(handler: Any) -> bool:
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(getattr(handler, "__call__", None))


def verdict(message: Message, result: FetchResult | None) -> int:
    """The `kii_push_result` for a handler's return value."""
    if message._is_later:
        return LATER
    if result is None:
        return FetchResult.NEW_DATA.value
    if isinstance(result, FetchResult):
        return result.value
    raise TypeError(f"the handler has returned {type(result).__name__}, no FetchResult")


def reject(message: Message, rejection: Reject) -> None:
    try:
        message.later().reject(str(rejection))
    except Error as error:
        logger.warning("the rejection of message %d does not count: %s", message.id, error)


def fail(message: Message, error: BaseException) -> None:
    logger.error("the handler of message %d has failed, attempt %d", message.id, message.attempt, exc_info=error)
    told = traceback.TracebackException(type(error), error, None)
    # The last line is the exception's text, unless notes follow.
    told.__notes__ = None
    try:
        message.later().fail([*told.format_exception_only()][-1].strip())
    except Error as refusal:
        if refusal.code != ErrorCode.HANDLE:
            logger.warning("the reason for the failure of message %d is not kept: %s", message.id, refusal)


class Agent:
    """Receives an account's messages and calls a handler for each.

    The handler runs on threads of the library, and has 30 s to return a `FetchResult` or None (`NEW_DATA`). If it
    raises, the attempt has failed; `Reject` makes the message a dead letter at once. `Message.later` allows a later
    answer. After a failure or the death of the process, the handler gets the message again, with the same `id`.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        app: App,
        account: PseudoUser | User | Thing,
        handler: Handler,
        subscriptions: Sequence[Topic | Bucket] = (),
        name: str | None = None,
        uses_tls: bool | None = None,
        transport: Literal["automatic", "tcp", "webSocket"] | None = None,
        is_development: bool | None = None,
        keep_alive: int | None = None,
    ) -> None:
        """Makes an agent, which does nothing before `register`, `start` or `run`. None selects a default.

        - name: unique in the runtime; default "default"
        - uses_tls: whether to encrypt the connection to the broker; default True
        - transport: default "automatic": MQTT over TCP, or over WebSocket if TCP is blocked
        - is_development: whether the installation is for development; default False
        - keep_alive: seconds without sending after which the agent pings the broker; default 45
        """
        require(callable(handler), "handler", "be callable", handler)
        if is_coroutine(handler):
            raise TypeError("the handler is a coroutine function: use AsyncAgent")
        self._handler = handler
        self._runtime = runtime
        settings = json_object(
            app=setting("app", "be", app, App),
            account=setting("account", "be", account, PseudoUser, User, Thing),
            name=name,
            subscriptions=[setting("subscriptions", "hold", one, Topic, Bucket) for one in subscriptions],
            usesTLS=uses_tls,
            transport=transport,
            isDevelopment=is_development,
            keepAlive=keep_alive,
        )
        handle = ffi.new("kii_push_agent *")
        self._numbers = [next(_numbers)]
        _receivers[self._numbers[0]] = self._receive
        context = ffi.cast("void *", self._numbers[0])
        try:
            call(library().kii_push_agent_new, runtime._handle, settings, len(settings), _receive, context, handle)
        except Error:
            self._forget()
            raise
        self._handle: int = handle[0]
        runtime._agents.append(self)

    def observe(self, observer: Observer) -> None:
        """Calls `observer` with each event from now on: a dictionary as `kii-push listen --json` writes it.

        The observer runs on a thread of the library and must not block. Methods that block raise `CALLBACK` there.
        """
        require(callable(observer), "observer", "be callable", observer)
        number = next(_numbers)
        _observers[number] = observer
        try:
            call(library().kii_push_observe, self._handle, _observe, ffi.cast("void *", number))
        except Error:
            del _observers[number]
            raise
        self._numbers.append(number)

    def register(self) -> None:
        """Registers the agent, so that the cloud keeps messages for it. `start` does this too. Blocks."""
        call(library().kii_push_register, self._handle)

    def start(self) -> None:
        """Starts receiving and returns at once. `wait` raises a failure that stops the agent later."""
        call(library().kii_push_start, self._handle)

    def stop(self) -> None:
        """Asks the agent to stop, and returns at once."""
        call(library().kii_push_stop, self._handle)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the agent has stopped, and raises the failure that stopped it, if any.

        Returns False if the agent still runs after `timeout` seconds.
        """
        end = math.inf if timeout is None else time.monotonic() + timeout
        # Waits on the main thread are short: Python handles signals there, between calls of the library.
        longest = 0.25 if threading.current_thread() is threading.main_thread() else 3600.0
        while True:
            part = min(longest, max(0.0, end - time.monotonic()))
            try:
                call(library().kii_push_wait, self._handle, math.ceil(part * 1000))
                return True
            except Error as error:
                if error.code == ErrorCode.HANDLE:  # another thread closes the runtime
                    if self._runtime._closed.wait(part):
                        return True
                elif error.code != ErrorCode.TIMEOUT:
                    raise
            if time.monotonic() >= end:
                return False

    def run(self) -> None:
        """Receives until `stop` is called, or raises the failure that stopped the agent.

        If a signal handler raises an exception, as Control-C does, `run` first stops the agent.
        """
        self.start()
        try:
            self.wait()
        except Error:
            raise
        except BaseException:
            with contextlib.suppress(Error):  # the agent has already stopped
                self.stop()
                self.wait()
            raise

    def call(
        self, method: str, path: str, body: bytes | Mapping[str, Any] | None = None, *, content_type: str | None = None
    ) -> bytes:
        """Calls the REST API as the agent's user or thing, and returns the body of the answer. Blocks.

        path: below the app's URL, percent-encoded, such as "/users/me". The default `content_type` is
        "application/json". If the cloud refuses, `Error` has the code `REFUSED`, `status` and `refusal`.
        """
        is_ready = body is None or isinstance(body, bytes)
        sent = body if is_ready else json.dumps(members("body", body), allow_nan=False).encode()
        answer, length = ffi.new("char **"), ffi.new("size_t *")
        call(
            library().kii_push_call,
            self._handle,
            method.encode(),
            path.encode(),
            ffi.NULL if content_type is None else content_type.encode(),
            ffi.NULL if sent is None else sent,
            0 if sent is None else len(sent),
            answer,
            length,
        )
        return taken(answer[0], length[0])

    def send(self, target: str, data: Mapping[str, Any]) -> str:
        """Sends a message as the agent's user or thing, and returns its pushMessageID. Blocks.

        target: "topic:alerts", "topic:SCOPE/todo" with a scope as in a `Topic`, "user:me" or "user:ID". By default only
        the administrator may send to a topic of the app. The right SEND_MESSAGE_TO_TOPIC lets a user or thing send.
        """
        text = json.dumps(members("data", data), allow_nan=False).encode()
        id = ffi.new("char **")
        call(library().kii_push_send, self._handle, target.encode(), text, len(text), id)
        return taken(id[0], len(ffi.string(id[0]))).decode()

    def _receive(self, raw: Any) -> int:
        message = Message(raw)
        answer = self._answer(message)
        if answer != LATER:
            message._completion._is_open = False
        return answer

    def _answer(self, message: Message) -> int:
        try:
            return verdict(message, self._handler(message))
        except Reject as rejection:
            reject(message, rejection)
            return LATER
        except BaseException as error:  # no exception may reach the library
            fail(message, error)
            return LATER

    def _forget(self) -> None:
        for number in self._numbers:
            _receivers.pop(number, None)
            _observers.pop(number, None)
