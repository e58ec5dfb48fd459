#!/usr/bin/python3
"""Receives the topic "alerts" and prints each message, until SIGTERM or Control-C."""

import os
import sys

import kii_push


def handle(message: kii_push.Message) -> None:
    print(f"#{message.id} {message.kind.name} {message.get('msg', '')}", flush=True)


def main() -> int:
    try:
        app = kii_push.App(
            id=os.environ["KII_APP_ID"], key=os.environ["KII_APP_KEY"], base_url=os.environ["KII_BASE_URL"]
        )
    except KeyError as missing:
        print(f"set {missing.args[0]}", file=sys.stderr)
        return 78
    try:
        with kii_push.Runtime(certificate_authority_file=os.environ.get("KII_CA_FILE")) as runtime:
            kii_push.Agent(
                runtime,
                app=app,
                account=kii_push.PseudoUser(),
                subscriptions=[kii_push.Topic("alerts")],
                handler=handle,
            )
            return kii_push.run(runtime)
    except kii_push.Error as error:
        print(error, file=sys.stderr)
        return 75 if error.is_temporary else 78


if __name__ == "__main__":
    sys.exit(main())
