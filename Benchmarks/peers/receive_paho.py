#!/usr/bin/python3
"""paho-python, with a count in on_message. PUBACK is sent after on_message.

usage: receive_paho.py HOST PORT TOPIC COUNT QOS [CA-FILE]
"""
import sys

import paho.mqtt.client as mqtt

if len(sys.argv) not in (6, 7):
    sys.exit(__doc__)
host, port, topic, count, qos = sys.argv[1:6]
everything = int(count)
seen = 0


def on_message(_client, _data, _message):
    global seen
    seen += 1


# Version 2 needs the version of the callbacks; version 1 (Debian 12) has no such argument.
versions = getattr(mqtt, "CallbackAPIVersion", None)
client = mqtt.Client(versions.VERSION2) if versions else mqtt.Client()
if len(sys.argv) == 7:
    client.tls_set(sys.argv[6])
client.on_connect = lambda client, *_: client.subscribe(topic, int(qos))
client.on_message = on_message
client.connect(host, int(port))
# The loop of loop_forever. The program could leave loop_forever only in on_message, before the last PUBACK.
while seen < everything:
    # The broker may close the connection after the last PUBACK.
    if client.loop() != mqtt.MQTT_ERR_SUCCESS and seen < everything:
        sys.exit("the connection ended early")
client.disconnect()
