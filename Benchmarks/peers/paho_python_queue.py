#!/usr/bin/python3
"""paho-python, with on_message putting the message into a queue that a thread works off.

usage: paho_python_queue.py [manual] HOST PORT CLIENTID TOPIC USER LOGFILE, with the password in MQTT_PASSWORD and the
length of the work in WORK_MIN_US and WORK_MAX_US

A message is acknowledged when it is queued, or with `manual` (paho-python 2 alone) when it has been worked on.
"""
import os
import queue
import sys
import threading

import paho_python

if __name__ == "__main__":
    manual = sys.argv[1:2] == ["manual"]
    if manual:
        del sys.argv[1]
    if len(sys.argv) != 7 or "MQTT_PASSWORD" not in os.environ:
        sys.exit(__doc__)
    messages = queue.Queue()
    handle = paho_python.handler(sys.argv[6])

    def work():
        while True:
            client, message = messages.get()
            handle(message.payload)
            if manual:
                client.ack(message.mid, message.qos)

    threading.Thread(target=work, daemon=True).start()
    options = {"manual_ack": True} if manual else {}
    paho_python.receive(lambda client, message: messages.put((client, message)), **options)
