#!/usr/bin/python3
"""paho-python, with the work done in on_message: the callback is called first and PUBACK sent afterwards.

usage: paho_python.py HOST PORT CLIENTID TOPIC USER LOGFILE, with the password in MQTT_PASSWORD and the length of the
work in WORK_MIN_US and WORK_MAX_US
"""
import json
import os
import random
import sys
import time

import paho.mqtt.client as mqtt


def handler(path):
    """The work on one message: as Tests/CountingAgent does, a line before and one after, written through to the disk."""
    shortest = int(os.environ.get("WORK_MIN_US", "500")) / 1e6
    longest = int(os.environ.get("WORK_MAX_US", "3000")) / 1e6
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(verb, number):
        os.write(log, f"{verb} {number} 0\n".encode())
        os.fdatasync(log)

    def handle(payload):
        number = json.loads(payload)["n"]
        write("began", number)
        time.sleep(random.uniform(shortest, longest))
        write("ended", number)

    return handle


def receive(on_message, **more):
    """Receives for ever, as the arguments say, and hands each message and its client on."""
    host, port, client_id, topic, user = sys.argv[1:6]
    options = {"client_id": client_id, "clean_session": False, **more}
    # Version 2 needs the version of the callbacks; version 1 (Debian 12) has no such argument.
    if hasattr(mqtt, "CallbackAPIVersion"):
        options["callback_api_version"] = mqtt.CallbackAPIVersion.VERSION2
    client = mqtt.Client(**options)
    client.username_pw_set(user, os.environ["MQTT_PASSWORD"])
    client.on_connect = lambda client, *_: client.subscribe(topic, 1)
    client.on_message = lambda client, _data, message: on_message(client, message)
    client.connect_async(host, int(port))
    client.loop_forever(retry_first_connection=True)


if __name__ == "__main__":
    if len(sys.argv) != 7 or "MQTT_PASSWORD" not in os.environ:
        sys.exit(__doc__)
    handle = handler(sys.argv[6])
    receive(lambda _client, message: handle(message.payload))
