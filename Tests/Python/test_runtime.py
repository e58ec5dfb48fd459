"""The runtime, its errors, and the service."""

import json
import pickle
import threading
import unittest
from datetime import UTC, datetime
from pathlib import Path

import support
from support import fake

import kii_push
from kii_push import ErrorCode


RECEIVED = datetime(2023, 11, 14, 22, 13, 20, 123000, UTC)


class RuntimeTests(unittest.TestCase):
    def test_settings_are_the_headers(self) -> None:
        with kii_push.Runtime(
            state_directory=Path("/nowhere"),
            inbox="memory",
            concurrent_handlers=2,
            is_strictly_ordered=True,
            retry_delays=(1, 2.5),
            shutdown_grace=3,
            has_control_socket=False,
            certificate_authority_file=Path("/ca.pem"),
            client_certificate_file=Path("/client.pem"),
            client_key_file=Path("/client.key"),
            proxy="http://127.0.0.1:8080",
            user_agent="meter/1.2",
            call_timeout=4,
        ):
            settings = json.loads(fake.fake_passed())
        self.assertEqual(
            settings,
            {
                "stateDirectory": "/nowhere", "inbox": "memory", "concurrentHandlers": 2, "isStrictlyOrdered": True,
                "retryDelays": [1, 2.5], "shutdownGrace": 3, "hasControlSocket": False,
                "certificateAuthorityFile": "/ca.pem", "clientCertificateFile": "/client.pem",
                "clientKeyFile": "/client.key", "proxy": "http://127.0.0.1:8080", "userAgent": "meter/1.2",
                "callTimeout": 4,
            },
        )
        with kii_push.Runtime():
            self.assertEqual(json.loads(fake.fake_passed()), {})
        with self.assertRaises(TypeError):
            kii_push.Runtime(stateDirectory="/nowhere")  # type: ignore[call-arg]

    def test_error_has_what_the_library_said(self) -> None:
        with kii_push.Runtime() as runtime:
            fake.fake_fail_next(ErrorCode.REFUSED, 404)
            with self.assertRaises(kii_push.Error) as caught:
                runtime.retry(1)
            error = caught.exception
            self.assertEqual((str(error), error.code), ("as the test has it", ErrorCode.REFUSED))
            self.assertEqual((error.status, error.refusal, error.is_temporary), (404, "TOPIC_NOT_FOUND", False))
            self.assertIsNone(error.hint)
            fake.fake_fail_next(ErrorCode.NETWORK, 0)
            with self.assertRaises(kii_push.Error) as caught:
                runtime.retry(1)
            self.assertTrue(caught.exception.is_temporary)

    def test_code_of_a_newer_library_is_its_number(self) -> None:
        with kii_push.Runtime() as runtime:
            fake.fake_fail_next(99, 0)
            with self.assertRaises(kii_push.Error) as caught:
                runtime.retry(1)
            self.assertEqual(caught.exception.code, 99)

    def test_error_may_be_sent_to_another_process(self) -> None:
        error = kii_push.Error("forked", 11, status=404, refusal="TOPIC_NOT_FOUND", is_temporary=True)
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(copy), vars(copy)), (str(error), vars(error)))

    def test_runtime_that_is_closed_answers(self) -> None:
        runtime = kii_push.Runtime()
        runtime.close()
        runtime.close()
        for use in [lambda: runtime.retry(1), lambda: list(runtime.dead_letters()), lambda: kii_push.run(runtime)]:
            with self.assertRaises(kii_push.Error) as caught:
                use()
            self.assertEqual(caught.exception.code, ErrorCode.HANDLE)

    def test_dead_letters_come_in_pages(self) -> None:
        with kii_push.Runtime() as runtime:
            letters = list(runtime.dead_letters())
            self.assertEqual([letter.id for letter in letters], [1, 2, 3])
            self.assertEqual(letters[0], kii_push.DeadLetter(1, RECEIVED, 6, "failed", b"{}"))
            self.assertEqual(letters[1].payload, b"\xff")
            runtime.retry(3)
            runtime.drop(3)
            with self.assertRaises(kii_push.Error) as caught:
                runtime.drop(4)
            self.assertEqual(caught.exception.code, ErrorCode.STATE)

    def test_run_returns_the_status_and_logs_why(self) -> None:
        self.addCleanup(fake.fake_end_run, 0)
        runtime = kii_push.Runtime()
        threading.Timer(0.01, fake.fake_end_run, [77]).start()
        with self.assertLogs("kii_push", "ERROR") as logs:
            self.assertEqual(kii_push.run(runtime), 77)
        self.assertIn("refuses the password", logs.output[0])
        fake.fake_end_run(-1)
        with self.assertNoLogs("kii_push"), kii_push.Runtime() as runtime:
            self.assertEqual(kii_push.run(runtime), 0)


class VersionTests(unittest.TestCase):
    def opened_with(self, number: int) -> str:
        process = support.python(
            f"""
            import ctypes, os
            ctypes.CDLL(os.environ["KII_PUSH_LIBRARY"]).fake_set_api({number})
            import kii_push
            try:
                kii_push.Runtime().close()
            except kii_push.Error as error:
                print(error.code.name, error.hint, error)
            """
        )
        return process.communicate(timeout=60)[0]

    def test_older_library_and_other_major_are_refused(self) -> None:
        for number in [0, 999, 2000]:
            output = self.opened_with(number)
            self.assertIn("VERSION install libkiipush1 and python3-kii-push of one version", output)
            self.assertIn(str(number), output)

    def test_newer_library_of_the_same_major_is_taken(self) -> None:
        self.assertEqual(self.opened_with(1001), "")

    def test_another_library_is_refused(self) -> None:
        process = support.python("import kii_push; kii_push.Runtime()", library="libc.so.6")
        self.assertIn("libc.so.6 is not the library kii_push", process.communicate(timeout=60)[1])

    def test_package_is_imported_without_a_library(self) -> None:
        process = support.python("import kii_push; kii_push.Runtime()", library="/nowhere/libkiipush.so.1")
        errors = process.communicate(timeout=60)[1]
        self.assertIn("OSError", errors)
        self.assertIn("/nowhere/libkiipush.so.1", errors)


if __name__ == "__main__":
    unittest.main()
