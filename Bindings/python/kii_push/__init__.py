"""Push messages of a Kii-style cloud.

A program opens a `Runtime`, makes an `Agent` in it with a handler, and calls `run`::

    def handle(message: kii_push.Message) -> None:
        print(message["msg"])

    with kii_push.Runtime() as runtime:
        kii_push.Agent(runtime, app=app, account=kii_push.PseudoUser(), handler=handle)
        sys.exit(kii_push.run(runtime))

A handler that returns nothing has answered `FetchResult.NEW_DATA`. One that raises has failed, and the message is tried
again; a dead letter has the text of the last exception. `AsyncAgent` has handlers that are coroutine functions. The logger "kii_push" gets the tracebacks.
"""

from ._agent import Agent
from ._asyncio import AsyncAgent, run_async
from ._configuration import App, Bucket, PseudoUser, Thing, Topic, User
from ._error import Error, ErrorCode, Reject
from ._message import Completion, FetchResult, Kind, Message
from ._runtime import DeadLetter, Runtime, run

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "App",
    "AsyncAgent",
    "Bucket",
    "Completion",
    "DeadLetter",
    "Error",
    "ErrorCode",
    "FetchResult",
    "Kind",
    "Message",
    "PseudoUser",
    "Reject",
    "Runtime",
    "Thing",
    "Topic",
    "User",
    "run",
    "run_async",
]
