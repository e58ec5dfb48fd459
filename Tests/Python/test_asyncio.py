"""Agents whose handlers are coroutine functions."""

import asyncio
import threading
import unittest
from typing import Any
from unittest import mock

from support import FAILED, NEW_DATA, NO_DATA, REJECTED, deliver, fake

import kii_push
from kii_push import _asyncio

APP = kii_push.App(id="0a1b", key="secret", base_url="http://127.0.0.1:1/api")


class AsyncAgentTests(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.runtime = kii_push.Runtime()
        self.addCleanup(self.runtime.close)

    def agent(self, handler: Any) -> kii_push.AsyncAgent:
        return kii_push.AsyncAgent(self.runtime, app=APP, account=kii_push.PseudoUser(), handler=handler)

    async def answer(self, handler: Any) -> int:
        """What a message is answered that an agent with this handler receives."""
        agent = self.agent(handler)
        running = asyncio.create_task(agent.run())
        result = await asyncio.to_thread(deliver)
        agent.stop()
        await running
        return result

    async def test_handler_runs_on_the_loop_and_its_result_is_the_answer(self) -> None:
        threads = []

        async def handler(message: kii_push.Message) -> kii_push.FetchResult:
            await asyncio.sleep(0)
            threads.append(threading.current_thread())
            self.assertEqual(message["msg"], "hi")
            return kii_push.FetchResult.NO_DATA

        self.assertEqual(await self.answer(handler), NO_DATA)
        self.assertEqual(threads, [threading.current_thread()])

    async def test_none_exception_and_rejection(self) -> None:
        async def returns(message: kii_push.Message) -> None: ...

        async def raises(message: kii_push.Message) -> None:
            raise ValueError("broken")

        async def rejects(message: kii_push.Message) -> None:
            raise kii_push.Reject("stale")

        async def exits(message: kii_push.Message) -> None:
            raise SystemExit(3)

        self.assertEqual(await self.answer(returns), NEW_DATA)
        self.assertEqual(await self.answer(rejects), REJECTED)
        for handler, error in [(raises, "ValueError: broken"), (exits, "SystemExit: 3")]:
            with self.subTest(error=error), self.assertLogs("kii_push", "ERROR") as logs:
                self.assertEqual(await self.answer(handler), FAILED)
            self.assertIn(error, logs.output[0])

    async def test_rejection_after_the_answer_is_logged(self) -> None:
        async def handler(message: kii_push.Message) -> None:
            message.later().complete()
            raise kii_push.Reject("stale")

        with self.assertLogs("kii_push", "WARNING") as logs:
            self.assertEqual(await self.answer(handler), NEW_DATA)
        self.assertIn("the rejection of message", logs.output[0])

    async def test_completion_answers_after_the_coroutine(self) -> None:
        async def handler(message: kii_push.Message) -> None:
            completion = message.later()
            asyncio.get_running_loop().call_soon(completion.complete, kii_push.FetchResult.NO_DATA)

        self.assertEqual(await self.answer(handler), NO_DATA)

    async def test_handler_that_takes_too_long_is_cancelled_and_has_failed(self) -> None:
        cancelled = asyncio.Event()

        async def handler(message: kii_push.Message) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        with mock.patch.object(_asyncio, "_DEADLINE", 0.01), self.assertLogs("kii_push", "ERROR"):
            self.assertEqual(await self.answer(handler), FAILED)
        self.assertTrue(cancelled.is_set())

    async def test_cancelled_run_waits_for_handlers(self) -> None:
        begun, proceed, finished = asyncio.Event(), asyncio.Event(), []

        async def handler(message: kii_push.Message) -> None:
            begun.set()
            await proceed.wait()
            finished.append(message)

        agent = self.agent(handler)
        running = asyncio.create_task(agent.run())
        await asyncio.sleep(0)
        number = fake.fake_deliver(b"{}")
        await begun.wait()
        running.cancel()
        asyncio.get_running_loop().call_later(0.01, proceed.set)
        with self.assertRaises(asyncio.CancelledError):
            await running
        self.assertEqual(len(finished), 1)
        self.assertEqual(fake.fake_answer(number), NEW_DATA)

    async def test_run_that_is_cancelled_twice_cancels_handlers(self) -> None:
        begun = asyncio.Event()

        async def handler(message: kii_push.Message) -> None:
            begun.set()
            await asyncio.Event().wait()

        running = asyncio.create_task(self.agent(handler).run())
        await asyncio.sleep(0)
        number = fake.fake_deliver(b"{}")
        await begun.wait()
        running.cancel()
        await asyncio.sleep(0)
        running.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await running
        self.assertEqual(fake.fake_answer(number), FAILED)

    async def test_run_raises_why_the_agent_has_stopped(self) -> None:
        async def handler(message: kii_push.Message) -> None: ...

        running = asyncio.create_task(self.agent(handler).run())
        await asyncio.sleep(0)
        fake.fake_end_agent(kii_push.ErrorCode.REFUSED)
        with self.assertRaises(kii_push.Error) as caught:
            await running
        self.assertEqual(caught.exception.code, kii_push.ErrorCode.REFUSED)

    async def test_observer_is_called_on_the_loop(self) -> None:
        async def handler(message: kii_push.Message) -> None: ...

        event = asyncio.get_running_loop().create_future()
        agent = self.agent(handler)
        agent.observe(event.set_result)
        running = asyncio.create_task(agent.run())
        await asyncio.to_thread(deliver)
        self.assertEqual(await event, {"v": 1, "type": "started"})
        agent.stop()
        await running

    async def test_calls_do_not_hold_the_loop(self) -> None:
        async def handler(message: kii_push.Message) -> None: ...

        agent = self.agent(handler)
        await agent.register()
        self.assertEqual(await agent.call("GET", "/users/me"), b"GET /users/me - ")
        self.assertEqual(await agent.send("user:me", {}), "push-1")

    async def test_plain_function_is_refused_and_an_object_with_a_coroutine_is_not(self) -> None:
        with self.assertRaisesRegex(TypeError, "use Agent"):
            self.agent(lambda message: None)

        class Handler:
            async def __call__(self, message: kii_push.Message) -> None: ...

        self.assertEqual(await self.answer(Handler()), NEW_DATA)


class LoopTests(unittest.TestCase):
    def test_message_for_a_loop_that_is_closed_has_failed(self) -> None:
        async def handler(message: kii_push.Message) -> None: ...

        async def make() -> None:
            kii_push.AsyncAgent(runtime, app=APP, account=kii_push.PseudoUser(), handler=handler)

        with kii_push.Runtime() as runtime:
            asyncio.run(make())
            with self.assertLogs("kii_push", "ERROR"):
                self.assertEqual(deliver(), FAILED)

    def test_cancelled_service_closes_the_runtime(self) -> None:
        async def main() -> None:
            runtime = kii_push.Runtime()
            running = asyncio.create_task(kii_push.run_async(runtime))
            await asyncio.sleep(0)
            running.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await running
            with self.assertRaises(kii_push.Error):
                runtime.retry(1)

        asyncio.run(main())

    def test_service_returns_its_status(self) -> None:
        self.addCleanup(fake.fake_end_run, 0)
        fake.fake_end_run(77)
        with self.assertLogs("kii_push", "ERROR"):
            self.assertEqual(asyncio.run(kii_push.run_async(kii_push.Runtime())), 77)


if __name__ == "__main__":
    unittest.main()
