import asyncio
import contextlib
import copy
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from ._agent import LATER, Agent, Observer, fail, is_coroutine, reject, verdict
from ._configuration import App, Bucket, PseudoUser, Thing, Topic, User, require
from ._error import Error, Reject
from ._message import FetchResult, Message
from ._runtime import Runtime, log_end, logger, served

AsyncHandler = Callable[[Message], Awaitable[FetchResult | None]]

_Value = TypeVar("_Value")

#: Seconds until the library counts an attempt as failed.
_DEADLINE = 30


class AsyncAgent:
    """An `Agent` whose handler is a coroutine function, which runs on the event loop of `__init__`.

    After 30 s the agent cancels the handler. A cancelled handler has failed.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        app: App,
        account: PseudoUser | User | Thing,
        handler: AsyncHandler,
        subscriptions: Sequence[Topic | Bucket] = (),
        name: str | None = None,
        uses_tls: bool | None = None,
        transport: Literal["automatic", "tcp", "webSocket"] | None = None,
        is_development: bool | None = None,
        keep_alive: int | None = None,
    ) -> None:
        """Makes an agent, with the arguments of `Agent`. Needs a running event loop."""
        require(callable(handler), "handler", "be callable", handler)
        if not is_coroutine(handler):
            raise TypeError("the handler is no coroutine function: use Agent")
        self._handler = handler
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._agent = Agent(
            runtime,
            app=app,
            account=account,
            handler=self._hand_over,
            subscriptions=subscriptions,
            name=name,
            uses_tls=uses_tls,
            transport=transport,
            is_development=is_development,
            keep_alive=keep_alive,
        )

    def observe(self, observer: Observer) -> None:
        """Calls `observer` on the event loop with each event from now on. See `Agent.observe`."""

        def pass_on(event: dict[str, Any]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(observer, event)

        self._agent.observe(pass_on)

    async def run(self) -> None:
        """Receives until `stop` is called, or raises the failure that stopped the agent.

        If `run` is cancelled, it stops the agent, and cancels handlers that run longer than the runtime's
        `shutdown_grace`. If it is cancelled again, it cancels the handlers at once.
        """
        self._agent.start()
        stopped = _on_thread(self._agent.wait)
        try:
            await asyncio.shield(stopped)
        except asyncio.CancelledError:
            with contextlib.suppress(Error):  # the agent has already stopped
                self._agent.stop()
                await stopped
            raise
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def stop(self) -> None:
        """Asks the agent to stop, and returns at once. `run` returns when the agent has stopped."""
        self._agent.stop()

    async def register(self) -> None:
        """See `Agent.register`."""
        await _on_thread(self._agent.register)

    async def call(
        self, method: str, path: str, body: bytes | Mapping[str, Any] | None = None, *, content_type: str | None = None
    ) -> bytes:
        """See `Agent.call`."""
        return await _on_thread(lambda: self._agent.call(method, path, body, content_type=content_type))

    async def send(self, target: str, data: Mapping[str, Any]) -> str:
        """See `Agent.send`."""
        return await _on_thread(lambda: self._agent.send(target, data))

    def _hand_over(self, message: Message) -> None:
        # `later()` marks the message, so the coroutine gets an unmarked copy.
        own = copy.copy(message)
        message.later()
        self._loop.call_soon_threadsafe(self._begin, own)

    def _begin(self, message: Message) -> None:
        task = self._loop.create_task(self._handle(message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _handle(self, message: Message) -> None:
        answer = FetchResult.FAILED.value
        try:
            async with asyncio.timeout(_DEADLINE):
                answer = verdict(message, await self._handler(message))
        except Reject as rejection:
            reject(message, rejection)
            answer = LATER
        except (Exception, SystemExit) as error:  # SystemExit would end the event loop
            fail(message, error)
            answer = LATER
        finally:
            if answer != LATER:
                self._complete(message, FetchResult(answer))

    def _complete(self, message: Message, result: FetchResult) -> None:
        try:
            message._completion.complete(result)
        except Error as error:
            if result is not FetchResult.FAILED:
                logger.warning("the answer of message %d does not count: %s", message.id, error)


async def run_async(runtime: Runtime) -> int:
    """Does the same as `run`, without blocking the event loop. If cancelled, it closes the runtime first."""
    ended = _on_thread(lambda: served(runtime))
    try:
        status, error = await asyncio.shield(ended)
    except asyncio.CancelledError:
        await _on_thread(runtime.close)
        with contextlib.suppress(Error):  # the runtime was closed before its agents began
            await ended
        raise
    log_end(status, error)
    return status


def _on_thread(function: Callable[[], _Value]) -> asyncio.Future[_Value]:
    # An executor has few threads, and the interpreter waits for them before it closes the runtimes.
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_Value] = loop.create_future()

    def finish(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            set_outcome(outcome)

    def work() -> None:
        outcome: tuple[Callable[[Any], None], Any]
        try:
            outcome = (future.set_result, function())
        except BaseException as error:
            outcome = (future.set_exception, error)
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(finish, *outcome)

    threading.Thread(target=work, name="kii_push", daemon=True).start()
    return future
