"""Push messages of a Kii-style cloud.

Open a `Runtime`, make an `Agent` in it with a handler, and call `run`::

    def handle(message: kii_push.Message) -> None:
        print(message["msg"])

    with kii_push.Runtime() as runtime:
        kii_push.Agent(runtime, app=app, account=kii_push.PseudoUser(), handler=handle)
        sys.exit(kii_push.run(runtime))

If the handler returns None, the message is done. If the handler raises, the library retries the message, and logs the
traceback to the logger "kii_push".
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
