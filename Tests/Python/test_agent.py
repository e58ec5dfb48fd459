"""The contract between a handler and the library, told by the fake one."""

import copy
import gc
import json
import logging
import queue
import threading
import unittest
from datetime import UTC, datetime
from typing import Any

from support import FAILED, NEW_DATA, NO_DATA, REJECTED, deliver, fake

import kii_push

APP = kii_push.App(id="0a1b", key="secret", base_url="http://127.0.0.1:1/api")


class AgentTestCase(unittest.TestCase):
    def setUp(self) -> None:
        self.runtime = kii_push.Runtime()
        self.addCleanup(self.runtime.close)

    def agent(self, handler: Any, **settings: Any) -> kii_push.Agent:
        agent = kii_push.Agent(
            self.runtime, app=APP, account=settings.pop("account", kii_push.PseudoUser()), handler=handler, **settings
        )
        agent.start()
        return agent


class HandlerTests(AgentTestCase):
    def test_result_is_the_answer(self) -> None:
        for result, answer in [
            (None, NEW_DATA),
            (kii_push.FetchResult.NEW_DATA, NEW_DATA),
            (kii_push.FetchResult.NO_DATA, NO_DATA),
            (kii_push.FetchResult.FAILED, FAILED),
        ]:
            with self.subTest(result=result):
                self.agent(lambda message: result)
                self.assertEqual(deliver(), answer)

    def test_result_of_another_type_has_failed(self) -> None:
        for result in [True, 0, "newData", object()]:
            with self.subTest(result=result), self.assertLogs("kii_push", "ERROR") as logs:
                self.agent(lambda message: result)
                self.assertEqual(deliver(), FAILED)
            self.assertIn(type(result).__name__, logs.output[0])
            self.assertIn(type(result).__name__, fake.fake_reason().decode())

    def test_exception_has_failed_and_is_logged_with_its_traceback(self) -> None:
        for error in [ValueError("broken"), SystemExit(3), KeyboardInterrupt(), MemoryError()]:
            def handler(message: kii_push.Message) -> None:
                raise error

            with self.subTest(error=error), self.assertLogs("kii_push", "ERROR") as logs:
                self.agent(handler)
                self.assertEqual(deliver(), FAILED)
            self.assertIn("Traceback", logs.output[0])
            self.assertIn(type(error).__name__, logs.output[0])
            # The dead letter has the exception's text too.
            self.assertEqual(fake.fake_reason().decode(), ": ".join(filter(None, [type(error).__name__, str(error)])))

    def test_exception_without_a_text_has_failed(self) -> None:
        class Mute(Exception):
            def __str__(self) -> str:
                raise ValueError

        def handler(message: kii_push.Message) -> None:
            raise Mute

        self.agent(handler)
        with self.assertLogs("kii_push", "ERROR"):
            self.assertEqual(deliver(), FAILED)
        self.assertIn("Mute", fake.fake_reason().decode())

    def test_reason_of_a_failure_is_the_exceptions_text(self) -> None:
        noted = ValueError("broken")
        noted.add_note("a note")
        unparsed = SyntaxError("invalid syntax", ("orders.py", 3, 5, "1 +\n", 3, 6))
        unparsed.add_note("a note")
        long = "é" * (5 << 20)
        for error, reason in [
            (noted, "ValueError: broken"),
            (unparsed, "SyntaxError: invalid syntax"),
            (ValueError(long), "ValueError: éé"),
            (kii_push.Reject(long), "éé"),
        ]:
            def handler(message: kii_push.Message) -> None:
                raise error

            with self.subTest(error=type(error).__name__, reason=reason):
                self.agent(handler)
                logger = logging.getLogger("kii_push")
                logger.disabled = True  # it would show 10 MB
                answer = deliver()
                logger.disabled = False
                self.assertEqual(answer, REJECTED if isinstance(error, kii_push.Reject) else FAILED)
                self.assertTrue(fake.fake_reason().startswith(reason.encode()), fake.fake_reason())

    def test_reason_that_the_library_refuses_is_logged_and_the_message_has_failed(self) -> None:
        def handler(message: kii_push.Message) -> None:
            fake.fake_fail_next(kii_push.ErrorCode.ARGUMENT, 0)
            raise ValueError("broken")

        def forget(record: logging.LogRecord) -> bool:
            # The exception's traceback keeps the message alive.
            record.msg, record.args, record.exc_info = record.getMessage(), None, None
            return True

        self.agent(handler)
        logger = logging.getLogger("kii_push")
        logger.addFilter(forget)
        self.addCleanup(logger.removeFilter, forget)
        with self.assertLogs(logger, "WARNING") as logs:
            self.assertEqual(deliver(), FAILED)
        self.assertIn("the failure of message", logs.output[-1])

    def test_rejection_has_its_reason(self) -> None:
        def handler(message: kii_push.Message) -> None:
            raise kii_push.Reject("no such order, “7”")

        self.agent(handler)
        self.assertEqual(deliver(), REJECTED)
        self.assertEqual(fake.fake_reason().decode(), "no such order, “7”")

    def test_message_is_good_after_its_handler(self) -> None:
        kept: list[kii_push.Message] = []
        self.agent(kept.append)
        deliver('{"msg":"hé","n":[1]}')
        message = kept[0]
        self.assertEqual(message.payload, '{"msg":"hé","n":[1]}'.encode())
        self.assertEqual((message["msg"], message["n"], message.get("m"), message.get("m", 2)), ("hé", [1], None, 2))
        self.assertEqual((message.kind, message.attempt), (kii_push.Kind.PUSH_TO_USER, 2))
        self.assertEqual(message.source, "kiicloud://topics/alerts")
        self.assertEqual(message.received_at, datetime(2023, 11, 14, 22, 13, 20, 123000, UTC))
        with self.assertRaises(KeyError):
            message["m"]

    def test_message_that_names_no_topic_has_no_source(self) -> None:
        kept: list[kii_push.Message] = []
        self.agent(kept.append)
        deliver('{"direct":1}')
        self.assertIsNone(kept[0].source)

    def test_payload_that_is_no_object_has_no_fields(self) -> None:
        kept: list[kii_push.Message] = []
        self.agent(kept.append)
        for payload in ["", "[1]", "7", "{", "[" * 100_000]:
            deliver(payload)
            self.assertEqual(kept[-1].fields, {})

    def test_fields_of_kii_have_their_long_names_in_a_payload_of_apns(self) -> None:
        kept: list[kii_push.Message] = []
        self.agent(kept.append)
        deliver('{"aps":{"badge":1},"to":"alerts","w":7,"t":"x","type":null,"su":["u"],"msg":"hi"}')
        message = kept[0]
        self.assertEqual((message["topic"], message["when"], message["msg"]), ("alerts", 7, "hi"))
        self.assertEqual((message["to"], message["aps"]), ("alerts", {"badge": 1}))
        # "type": null is the sender's member, and "su" has the wrong type: neither becomes a field of Kii's.
        self.assertIsNone(message["type"])
        self.assertNotIn("objectScopeUserID", message.fields)
        for payload in ['{"to":"alerts"}', '{"aps":1,"to":"alerts"}']:
            deliver(payload)
            self.assertNotIn("topic", kept[-1].fields)

    def test_kind_of_a_newer_library_is_unknown(self) -> None:
        self.assertEqual(kii_push.Kind(77), kii_push.Kind.UNKNOWN)

    def test_agent_that_the_program_has_let_go_of_goes_on(self) -> None:
        self.agent(lambda message: kii_push.FetchResult.NO_DATA)
        gc.collect()
        self.assertEqual(deliver(), NO_DATA)

    def test_coroutine_function_is_refused(self) -> None:
        async def handler(message: kii_push.Message) -> None: ...

        with self.assertRaisesRegex(TypeError, "AsyncAgent"):
            self.agent(handler)

    def test_what_is_no_setting_is_refused_by_name(self) -> None:
        settings: dict[str, Any] = {"app": APP, "account": kii_push.PseudoUser(), "handler": print}
        wrong: list[tuple[str, Any, str]] = [
            ("handler", None, "handler has to be callable, and not NoneType"),
            ("handler", "print", "handler has to be callable, and not str"),
            ("subscriptions", ["alerts"], "subscriptions has to hold Topic or Bucket, and not str"),
            ("subscriptions", "alerts", "subscriptions has to hold Topic or Bucket, and not str"),
            ("subscriptions", [None], "subscriptions has to hold Topic or Bucket, and not NoneType"),
            ("account", {"password": "secret"}, "account has to be PseudoUser or User or Thing, and not dict"),
            ("app", "0a1b", "app has to be App, and not str"),
        ]
        for name, value, text in wrong:
            with self.subTest(name=name, value=value), self.assertRaises(TypeError) as caught:
                kii_push.Agent(self.runtime, **{**settings, name: value})
            self.assertEqual(str(caught.exception), text)
        agent = kii_push.Agent(self.runtime, **settings)
        for use, text in [
            (lambda: agent.observe(None), "observer has to be callable, and not NoneType"),  # type: ignore[arg-type]
            (lambda: agent.send("user:me", "hi"), "data has to be a mapping, and not str"),  # type: ignore[arg-type]
            (lambda: agent.call("POST", "/users", "{}"), "body has to be a mapping, and not str"),  # type: ignore[arg-type]
        ]:
            with self.assertRaises(TypeError) as caught:
                use()
            self.assertEqual(str(caught.exception), text)


class CompletionTests(AgentTestCase):
    def test_completion_answers_after_the_handler(self) -> None:
        kept: queue.SimpleQueue[kii_push.Completion] = queue.SimpleQueue()
        self.agent(lambda message: kept.put(message.later()))
        number = fake.fake_deliver(b"{}")
        completion = kept.get()
        completion.complete(kii_push.FetchResult.NO_DATA)
        self.assertEqual(fake.fake_answer(number), NO_DATA)
        for answer in [completion.complete, lambda: completion.reject("late")]:
            with self.assertRaises(kii_push.Error) as caught:
                answer()
            self.assertEqual(caught.exception.code, kii_push.ErrorCode.HANDLE)

    def test_completion_fails_with_a_reason(self) -> None:
        self.agent(lambda message: message.later().fail("the shop is closed"))
        self.assertEqual(deliver(), FAILED)
        self.assertEqual(fake.fake_reason().decode(), "the shop is closed")

    def test_completion_rejects(self) -> None:
        self.agent(lambda message: message.later().reject("stale"))
        self.assertEqual(deliver(), REJECTED)

    def test_completion_of_no_result_is_refused_and_stays_open(self) -> None:
        def handler(message: kii_push.Message) -> None:
            completion = message.later()
            with self.assertRaises(ValueError):
                completion.complete(3)  # type: ignore[arg-type]
            completion.complete()

        self.agent(handler)
        self.assertEqual(deliver(), NEW_DATA)

    def test_completion_that_is_released_has_failed(self) -> None:
        def handler(message: kii_push.Message) -> None:
            message.later()

        self.agent(handler)
        self.assertEqual(deliver(), FAILED)

    def test_exception_after_later_has_failed(self) -> None:
        kept = []

        def handler(message: kii_push.Message) -> None:
            kept.append(message.later())
            raise ValueError

        self.agent(handler)
        with self.assertLogs("kii_push", "ERROR"):
            self.assertEqual(deliver(), FAILED)
        with self.assertRaises(kii_push.Error):
            kept[0].complete()

    def test_rejection_after_the_answer_is_logged(self) -> None:
        def handler(message: kii_push.Message) -> None:
            message.later().complete()
            raise kii_push.Reject("stale")

        self.agent(handler)
        with self.assertLogs("kii_push", "WARNING") as logs:
            self.assertEqual(deliver(), NEW_DATA)
        self.assertIn("the rejection of message", logs.output[0])

    def test_completion_cannot_be_copied(self) -> None:
        def handler(message: kii_push.Message) -> None:
            with self.assertRaises(TypeError):
                copy.deepcopy(message)

        self.agent(handler)
        self.assertEqual(deliver(), NEW_DATA)

    def test_answer_after_the_runtime_is_an_error(self) -> None:
        kept: queue.SimpleQueue[kii_push.Completion] = queue.SimpleQueue()
        fake.fake_set_grace(0)
        self.addCleanup(fake.fake_set_grace, 10_000)
        self.agent(lambda message: kept.put(message.later()))
        fake.fake_deliver(b"{}")
        completion = kept.get()
        self.runtime.close()
        with self.assertRaises(kii_push.Error) as caught:
            completion.complete()
        self.assertEqual(caught.exception.code, kii_push.ErrorCode.HANDLE)


class LifeTests(AgentTestCase):
    def test_run_ends_at_stop(self) -> None:
        agent = self.agent(lambda message: None)
        self.assertFalse(agent.wait(0))
        thread = threading.Thread(target=agent.stop)
        thread.start()
        self.assertTrue(agent.wait())
        thread.join()

    def test_run_raises_why_the_agent_has_stopped(self) -> None:
        agent = kii_push.Agent(self.runtime, app=APP, account=kii_push.PseudoUser(), handler=lambda message: None)
        threading.Timer(0.01, fake.fake_end_agent, [kii_push.ErrorCode.REFUSED]).start()
        with self.assertRaisesRegex(kii_push.Error, "password"):
            agent.run()

    def test_start_of_an_agent_that_runs_is_refused(self) -> None:
        with self.assertRaises(kii_push.Error) as caught:
            self.agent(lambda message: None).start()
        self.assertEqual(caught.exception.code, kii_push.ErrorCode.STATE)

    def test_events_are_dictionaries_and_an_observer_may_raise(self) -> None:
        events: list[dict[str, Any]] = []

        def observer(event: dict[str, Any]) -> None:
            events.append(event)
            raise ValueError

        self.agent(lambda message: None).observe(observer)
        with self.assertLogs("kii_push", "ERROR"):
            self.assertEqual(deliver(), NEW_DATA)
        self.assertEqual(events, [{"v": 1, "type": "started"}])

    def test_agent_of_a_runtime_that_is_closed_answers(self) -> None:
        agent = self.agent(lambda message: None)
        self.runtime.close()
        self.assertTrue(agent.wait(0))
        for use in [lambda: agent.observe(print), agent.stop, agent.start]:
            with self.assertRaises(kii_push.Error) as caught:
                use()
            self.assertEqual(caught.exception.code, kii_push.ErrorCode.HANDLE)

    def test_settings_are_the_headers(self) -> None:
        self.agent(
            lambda message: None,
            account=kii_push.Thing("lamp-1", "of the lamp", "lamp"),
            subscriptions=[kii_push.Topic("alerts"), kii_push.Bucket("orders", scope="group:7")],
            name="meter",
            transport="webSocket",
            keep_alive=30,
        )
        self.assertEqual(
            json.loads(fake.fake_passed()),
            {
                "app": {"id": "0a1b", "key": "secret", "baseURL": "http://127.0.0.1:1/api"},
                "account": {
                    "type": "thing", "vendorThingID": "lamp-1", "password": "of the lamp", "thingType": "lamp"
                },
                "subscriptions": [{"topic": "alerts", "scope": "app"}, {"bucket": "orders", "scope": "group:7"}],
                "name": "meter",
                "transport": "webSocket",
                "keepAlive": 30,
            },
        )

    def test_representations_have_no_secret(self) -> None:
        for value in [APP, kii_push.User("ann", "secret"), kii_push.Thing("lamp-1", "secret")]:
            self.assertNotIn("secret", repr(value))

    def test_call_and_send(self) -> None:
        agent = self.agent(lambda message: None)
        agent.register()
        self.assertEqual(agent.call("GET", "/users/me"), b"GET /users/me - ")
        self.assertEqual(agent.call("POST", "/x", {"a": 1}), b'POST /x - {"a": 1}')
        self.assertEqual(agent.call("PUT", "/x", b"\xff", content_type="image/png"), b"PUT /x image/png \xff")
        self.assertEqual(agent.send("topic:alerts", {"msg": "hé"}), "push-1")
        self.assertEqual(fake.fake_passed(), b'topic:alerts {"msg": "h\\u00e9"}')
        with self.assertRaises(ValueError):
            agent.send("topic:alerts", {"n": float("nan")})


if __name__ == "__main__":
    unittest.main()
