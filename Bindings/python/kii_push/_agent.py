"""The agent."""

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

#: `KII_PUSH_LATER`: no answer of a handler's own, so no member of `FetchResult`.
LATER = 3

# The library is given numbers, and not addresses that might have become stale. Two callbacks serve all agents and live
# as long as the process.
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
    """Whether calling it makes a coroutine."""
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(getattr(handler, "__call__", None))


def verdict(message: Message, result: FetchResult | None) -> int:
    """What a handler's return value answers."""
    if message._is_later:
        return LATER
    if result is None:
        return FetchResult.NEW_DATA.value
    if isinstance(result, FetchResult):
        return result.value
    raise TypeError(f"the handler has returned {type(result).__name__}, no FetchResult")


def reject(message: Message, rejection: Reject) -> None:
    """Makes it a dead letter, unless it is answered or its time is over."""
    try:
        message.later().reject(str(rejection))
    except Error as error:
        logger.warning("the rejection of message %d does not count: %s", message.id, error)


def fail(message: Message, error: BaseException) -> None:
    """Logs the exception of a handler with its traceback, and answers with its text, unless that is done already."""
    logger.error("the handler of message %d has failed, attempt %d", message.id, message.attempt, exc_info=error)
    told = traceback.TracebackException(type(error), error, None)
    # Without its notes an exception's text comes last. A SyntaxError has its source before that.
    told.__notes__ = None
    try:
        message.later().fail([*told.format_exception_only()][-1].strip())
    except Error as refusal:
        if refusal.code != ErrorCode.HANDLE:
            logger.warning("the reason for the failure of message %d is not kept: %s", message.id, refusal)


class Agent:
    """Receives an account's messages and hands each to its handler.

    The handler is called on threads of the library, up to `concurrent_handlers` at once, and has 30 s. It answers with
    a `FetchResult`; None is `NEW_DATA`. One that raises has failed: the message is tried again. `Reject` makes it a
    dead letter at once. `Message.later` answers after the handler has returned. A handler may see a message again, with
    the same `id`, after a failure or the death of the process.
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
        """Makes an agent; nothing happens before `register`, `start` or `run`. None is the library's default.

        - subscriptions: what the agent is subscribed to while it runs
        - name: of the agent within its runtime; "default"
        - uses_tls: whether the connection to the broker is encrypted; True
        - transport: what carries MQTT; "automatic": TCP, and WebSocket where TCP does not get through
        - is_development: whether the installation is a development build's; False
        - keep_alive: seconds between signs of life on a quiet connection; 45
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
        """Calls `observer` with each event from now on.

        An event is a dictionary with "v" and "type", as `kii-push listen --json` writes it. The observer is called on
        the thread where the event happens, and holds it up. It must not block: what blocks raises `CALLBACK` there.
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
        """Makes the agent known to the cloud, so that messages wait for it from then on. Blocks.

        `start` does it as well.
        """
        call(library().kii_push_register, self._handle)

    def start(self) -> None:
        """Begins to receive and returns. `wait` tells what goes wrong later and cannot pass by itself."""
        call(library().kii_push_start, self._handle)

    def stop(self) -> None:
        """Asks the agent to stop receiving, and returns. `wait` returns when it has."""
        call(library().kii_push_stop, self._handle)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the agent has stopped, so many seconds at most: False when they have passed.

        Raises why the agent has stopped by itself.
        """
        end = math.inf if timeout is None else time.monotonic() + timeout
        # Python handles a signal between two calls only, and on its main thread.
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
        """Receives until `stop` is called or the agent stops by itself: then it raises why.

        Control-C, and whatever a signal handler of the program raises, stops the agent in order first.
        """
        self.start()
        try:
            self.wait()
        except Error:
            raise
        except BaseException:
            with contextlib.suppress(Error):  # it has stopped by itself meanwhile
                self.stop()
                self.wait()
            raise

    def call(
        self, method: str, path: str, body: bytes | Mapping[str, Any] | None = None, *, content_type: str | None = None
    ) -> bytes:
        """Calls the REST API as the agent's user or thing, and returns the body of the answer. Blocks.

        path: below the app, percent-encoded, as "/users/me". A mapping is sent as JSON; bytes are JSON too where no
        `content_type` says otherwise. `Error` with the code `REFUSED` has the `status` and the `refusal`.
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

        target: "topic:alerts", "topic:SCOPE/todo" with a scope as in a `Topic`, "user:me" or "user:ID". A topic of the app
        takes messages from the administrator alone, unless its rules give the user the right SEND_MESSAGE_TO_TOPIC.
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
        except BaseException as error:  # a thread of the library must not see it, whatever it is
            fail(message, error)
            return LATER

    def _forget(self) -> None:
        for number in self._numbers:
            _receivers.pop(number, None)
            _observers.pop(number, None)
