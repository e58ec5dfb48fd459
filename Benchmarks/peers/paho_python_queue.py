#!/usr/bin/python3
"""paho-python, with on_message putting the payload into a queue that a thread works off: acknowledged when queued.

usage: paho_python_queue.py HOST PORT CLIENTID TOPIC USER LOGFILE, with the password in MQTT_PASSWORD and the length of
the work in WORK_MIN_US and WORK_MAX_US
"""
import os
import queue
import sys
import threading

import paho_python

if __name__ == "__main__":
    if len(sys.argv) != 7 or "MQTT_PASSWORD" not in os.environ:
        sys.exit(__doc__)
    payloads = queue.Queue()
    handle = paho_python.handler(sys.argv[6])

    def work():
        while True:
            handle(payloads.get())

    threading.Thread(target=work, daemon=True).start()
    paho_python.receive(payloads.put)
