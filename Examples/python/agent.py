#!/usr/bin/python3
"""Prints each push to the topic "alerts": its ID, the attempt, and its member "msg"."""

import os
import sys
import time

import kii_push


def handle(message: kii_push.Message) -> None:
    print(message.id, message.attempt, message.get("msg", ""), flush=True)
    time.sleep(float(os.environ.get("KII_SLEEP", "0")))


def main() -> int:
    try:
        app = kii_push.App(
            id=os.environ["KII_APP_ID"], key=os.environ["KII_APP_KEY"], base_url=os.environ["KII_BASE_URL"]
        )
        with kii_push.Runtime(certificate_authority_file=os.environ.get("KII_CA_FILE")) as runtime:
            kii_push.Agent(
                runtime,
                app=app,
                account=kii_push.PseudoUser(),
                subscriptions=[kii_push.Topic("alerts")],
                handler=handle,
            )
            return kii_push.run(runtime)
    except KeyError as missing:
        print(f"set {missing.args[0]}", file=sys.stderr)
        return 78
    except kii_push.Error as error:
        print(error, file=sys.stderr)
        return 75 if error.is_temporary else 78


if __name__ == "__main__":
    sys.exit(main())
