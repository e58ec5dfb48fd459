from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def require(is_right: bool, name: str, what: str, value: object) -> None:
    # The error has only the type of the value, which may be a secret.
    if not is_right:
        raise TypeError(f"{name} has to {what}, and not {type(value).__name__}")


def members(name: str, value: Any) -> dict[str, Any]:
    require(isinstance(value, Mapping), name, "be a mapping", value)
    return dict(value)


def setting(name: str, verb: str, value: Any, *kinds: type) -> dict[str, Any]:
    require(isinstance(value, kinds), name, f"{verb} {' or '.join(kind.__name__ for kind in kinds)}", value)
    json: dict[str, Any] = value._json()
    return json


@dataclass(frozen=True)
class App:
    """An app of the cloud."""

    id: str
    key: str = field(repr=False)
    base_url: str

    def _json(self) -> dict[str, Any]:
        return {"id": self.id, "key": self.key, "baseURL": self.base_url}


@dataclass(frozen=True)
class PseudoUser:
    """A user without a name. The first start creates the user, and the state directory stores it."""

    def _json(self) -> dict[str, Any]:
        return {"type": "pseudoUser"}


@dataclass(frozen=True)
class User:
    """A user by its login name, e-mail address, phone number or ID."""

    name: str
    password: str = field(repr=False)
    creates_if_missing: bool = False

    def _json(self) -> dict[str, Any]:
        return {
            "type": "user",
            "name": self.name,
            "password": self.password,
            "createsIfMissing": self.creates_if_missing,
        }


@dataclass(frozen=True)
class Thing:
    """A thing by its vendor's ID. The first start registers the thing."""

    vendor_thing_id: str
    password: str = field(repr=False)
    thing_type: str | None = None

    def _json(self) -> dict[str, Any]:
        members = {"type": "thing", "vendorThingID": self.vendor_thing_id, "password": self.password}
        return members if self.thing_type is None else members | {"thingType": self.thing_type}


@dataclass(frozen=True)
class Topic:
    """A topic. The scope is "app", "me", "user:ID", "group:ID" or "thing:ID"."""

    name: str
    scope: str = "app"

    def _json(self) -> dict[str, Any]:
        return {"topic": self.name, "scope": self.scope}


@dataclass(frozen=True)
class Bucket:
    """A bucket: the agent gets a message for each change of an object in it. The scope is as in a `Topic`."""

    name: str
    scope: str = "app"

    def _json(self) -> dict[str, Any]:
        return {"bucket": self.name, "scope": self.scope}
