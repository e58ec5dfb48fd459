#!/usr/bin/python3
"""A notification service for tests: shows nothing, and says what it is told.

usage: notification-daemon.py ADDRESS CONTROL [CAPABILITY ...]

ADDRESS is that of a bus, CONTROL a named pipe from which it takes its orders, one a line:
  invoke ID KEY      the user chooses an action
  closed ID REASON   a notification goes away
  refuse             the next notification is refused
  hang               the next notification is never answered, nor is anything after it
  hold               the next notification is answered when the next order is given, release for example
  zero               the next notification has the number 0
  die                the next notification ends the service
"""

import json
import os
import signal
import sys

import dbus
import dbus.bus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.Notifications"


def say(*words):
    print(*words, flush=True)


class Daemon(dbus.service.Object):
    def __init__(self, bus, capabilities):
        super().__init__(bus, "/org/freedesktop/Notifications")
        self.capabilities = capabilities
        self.last = 0
        self.mood = ""
        self.held = None

    @dbus.service.method(NAME, in_signature="", out_signature="as")
    def GetCapabilities(self):
        return dbus.Array(self.capabilities, signature="s")

    @dbus.service.method(
        NAME, in_signature="susssasa{sv}i", out_signature="u", async_callbacks=("reply", "fail"))
    def Notify(self, name, replaces, icon, title, body, actions, hints, timeout, reply, fail):
        mood, self.mood = self.mood, ""
        if mood == "hang":
            say("hanging")
            signal.pause()
        if mood == "die":
            os._exit(1)
        if mood == "refuse":
            return fail(dbus.DBusException("no", name=NAME + ".Error.ExcessNotificationGeneration"))
        if replaces == 0 and mood != "zero":
            self.last += 1
        number = 0 if mood == "zero" else int(replaces) or self.last
        hints = {str(key): plain(value) for key, value in hints.items()}
        said = {
            "id": number, "name": str(name), "icon": str(icon), "title": str(title), "body": str(body),
            "actions": [str(action) for action in actions], "hints": hints, "timeout": int(timeout),
        }
        if mood == "hold":
            self.held = lambda: reply(dbus.UInt32(number))
        else:
            # The reply goes out before the report, so a test that ends the service on the report ends one that has
            # already replied.
            reply(dbus.UInt32(number))
            self.connection.flush()
        say("notify", json.dumps(said, sort_keys=True))

    @dbus.service.method(NAME, in_signature="u", out_signature="")
    def CloseNotification(self, number):
        say("close", int(number))

    @dbus.service.signal(NAME, signature="us")
    def ActionInvoked(self, number, key):
        pass

    @dbus.service.signal(NAME, signature="uu")
    def NotificationClosed(self, number, reason):
        pass

    def obey(self, line):
        order, *words = line.split()
        if order == "invoke":
            self.ActionInvoked(int(words[0]), words[1])
        elif order == "closed":
            self.NotificationClosed(int(words[0]), int(words[1]))
        elif order in ("refuse", "hang", "hold", "zero", "die"):
            self.mood = order
        elif order != "release":
            sys.exit(f"no such order: {line}")
        if self.held:
            self.held()
            self.held = None
        say("obeyed", line)


def plain(value):
    """A number, a text or a truth value without its D-Bus type."""
    if isinstance(value, dbus.Boolean):
        return bool(value)
    return str(value) if isinstance(value, dbus.String) else int(value)


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    address, control, *capabilities = sys.argv[1:]
    bus = dbus.bus.BusConnection(address)
    bus.set_exit_on_disconnect(True)
    daemon = Daemon(bus, capabilities)
    # Opened for writing too, so that the pipe does not end when a test closes its end.
    pipe = os.fdopen(os.open(control, os.O_RDWR), buffering=1)

    def read(*_):
        daemon.obey(pipe.readline().strip())
        return True

    GLib.io_add_watch(pipe, GLib.IO_IN, read)
    if bus.request_name(NAME) != dbus.bus.REQUEST_NAME_REPLY_PRIMARY_OWNER:
        sys.exit("the bus has a notification service")
    say("ready")
    GLib.MainLoop().run()


main()
