"""What goes wrong in a program, each in a process of its own."""

import signal
import unittest

import support


class ExitTests(unittest.TestCase):
    def test_handler_that_runs_when_the_interpreter_ends_may_answer(self) -> None:
        status, output, errors = support.ended(
            """
            import atexit
            begun, ending = threading.Event(), threading.Event()

            def handler(message):
                begun.set()
                ending.wait()
                print("handled", flush=True)

            agent(handler).start()
            atexit.register(ending.set)
            fake.fake_deliver(b"{}")
            begun.wait()
            """
        )
        self.assertEqual((status, output, errors), (0, "handled\n", ""))

    def test_handler_that_never_ends_does_not_hold_the_interpreter(self) -> None:
        for endless in ["while True: pass", "threading.Event().wait()"]:
            with self.subTest(endless=endless):
                status, _, errors = support.ended(
                    f"""
                    begun = threading.Event()
                    fake.fake_set_grace(50)

                    def handler(message):
                        begun.set()
                        {endless}

                    agent(handler).start()
                    fake.fake_deliver(b"{{}}")
                    begun.wait()
                    """
                )
                self.assertEqual((status, errors), (0, ""))

    def test_control_c_stops_an_agent_in_order(self) -> None:
        process = support.python(
            support.PREAMBLE
            + """
agent = agent(lambda message: None)
wait = agent.wait

def waiting():
    agent.wait = wait
    print("running", flush=True)
    return wait()

agent.wait = waiting
try:
    agent.run()
except KeyboardInterrupt:
    print("stopped", wait(0))
"""
        )
        assert process.stdout is not None
        self.assertEqual(process.stdout.readline(), "running\n")
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, output, errors), (0, "stopped True\n", ""))

    def test_exit_in_a_handler_ends_nothing(self) -> None:
        status, output, errors = support.ended(
            """
            agent(lambda message: sys.exit(3)).start()
            print(fake.fake_answer(fake.fake_deliver(b"{}")))
            """
        )
        self.assertEqual((status, output), (0, "2\n"))
        self.assertIn("SystemExit: 3", errors)


class ForkTests(unittest.TestCase):
    def test_child_is_answered_and_the_parent_goes_on(self) -> None:
        status, output, errors = support.ended(
            """
            agent = agent(lambda message: kii_push.FetchResult.NO_DATA)
            agent.start()
            child = os.fork()
            if not child:
                for use in [agent.stop, runtime.close, kii_push.Runtime, lambda: agent.send("user:me", {})]:
                    try:
                        use()
                    except kii_push.Error as error:
                        print(error.code.name, "spawn" in error.hint)
                sys.exit(5)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), fake.fake_answer(fake.fake_deliver(b"{}")))
            """
        )
        self.assertEqual((status, output, errors), (0, "FORKED True\n" * 4 + "5 1\n", ""))

    def test_programs_may_be_started(self) -> None:
        status, output, errors = support.ended(
            """
            import subprocess
            agent(lambda message: print(subprocess.check_output(["echo", "hi"]).decode(), end="", flush=True)).start()
            print(fake.fake_answer(fake.fake_deliver(b"{}")))
            """
        )
        self.assertEqual((status, output, errors), (0, "hi\n0\n", ""))


class CallbackTests(unittest.TestCase):
    def test_what_would_wait_for_the_handler_is_refused_in_it(self) -> None:
        status, output, errors = support.ended(
            """
            def handler(message):
                for use in [runtime.close, receiving.wait, lambda: kii_push.run(runtime)]:
                    try:
                        use()
                    except kii_push.Error as error:
                        print(error.code.name, error.hint, flush=True)

            receiving = agent(handler)
            receiving.start()
            print(fake.fake_answer(fake.fake_deliver(b"{}")))
            """
        )
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(output, "CALLBACK call it on another thread than the handler's\n" * 3 + "0\n")

    def test_handlers_run_while_the_main_thread_is_in_run(self) -> None:
        status, output, errors = support.ended(
            """
            agent(lambda message: print("handled", flush=True)).start()

            def deliver():
                fake.fake_answer(fake.fake_deliver(b"{}"))
                fake.fake_end_run(-1)

            threading.Thread(target=deliver).start()
            sys.exit(kii_push.run(runtime))
            """
        )
        self.assertEqual((status, output, errors), (0, "handled\n", ""))

    def test_signal_handler_that_raises_leaves_the_runtime_closed(self) -> None:
        status, output, errors = support.ended(
            """
            import signal

            def interrupt(number, frame):
                raise InterruptedError

            def end():
                signal.raise_signal(signal.SIGUSR1)
                fake.fake_end_run(-1)

            signal.signal(signal.SIGUSR1, interrupt)
            agent(lambda message: None)
            try:
                with runtime:
                    threading.Timer(0.1, end).start()
                    kii_push.run(runtime)
            except InterruptedError:
                print("closed", flush=True)
            """
        )
        self.assertEqual((status, output, errors), (0, "closed\n", ""))


if __name__ == "__main__":
    unittest.main()
