#!/usr/bin/python3
"""An agent on the package kii_push with an inbox in memory, with a count in its handler.

usage: embedded.py DIRECTORY COUNT
"""
import sys
import threading
import time

import kii_push

directory, count = sys.argv[1], int(sys.argv[2])
done = threading.Event()
seen = 0


def handle(_message):
    global seen
    seen += 1
    if seen == count:
        done.set()


app = kii_push.App(id="bench", key="key", base_url="http://127.0.0.1:9/api")
# Only one thread calls the handler, so the count needs no lock.
with kii_push.Runtime(state_directory=directory, inbox="memory", concurrent_handlers=1) as runtime:
    agent = kii_push.Agent(runtime, app=app, account=kii_push.PseudoUser(), uses_tls=False, handler=handle)
    agent.start()
    done.wait()
    handled = time.monotonic()
print(f"handled={handled}")
