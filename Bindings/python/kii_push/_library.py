"""The C library: loading it, and calling its functions."""

import functools
import json
import os
from collections.abc import Callable
from typing import Any

import cffi

from ._cdef import CDEF
from ._error import Error, ErrorCode

ffi: Any = cffi.FFI()
ffi.cdef(CDEF)


@functools.cache
def library() -> Any:
    """The library, loaded the first time that it is needed: `import kii_push` works without it.

    $KII_PUSH_LIBRARY names another file than the system's.
    """
    name = os.environ.get("KII_PUSH_LIBRARY") or "libkiipush.so.1"
    # Never unloaded: its threads outlive the last reference to it, which the interpreter drops when it ends.
    loaded = ffi.dlopen(name, ffi.RTLD_NOW | os.RTLD_NODELETE)
    try:
        provided = loaded.kii_push_api()
    except AttributeError:
        raise Error(f"{name} is not the library kii_push", ErrorCode.VERSION) from None
    needed = loaded.KII_PUSH_API
    if provided // 1000 != needed // 1000 or provided < needed:
        raise Error(f"{name} has the interface {provided}, and {needed} is needed", ErrorCode.VERSION)
    return loaded


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function of the library whose last argument is the error. Other Python threads go on meanwhile."""
    error = ffi.new("kii_push_error *")
    code = function(*arguments, error)
    if code:
        raise made(error, code)


def made(error: Any, code: int) -> Error:
    """The exception for what the library has written."""
    return Error(
        text(error.text),
        code,
        status=error.status,
        refusal=text(error.refusal),
        is_temporary=bool(error.temporary),
    )


def text(characters: Any) -> str:
    """Text that ends with a zero."""
    return str(ffi.string(characters).decode("utf-8", "replace"))


def taken(pointer: Any, length: int) -> bytes:
    """Text that the library has handed out "to be freed"."""
    try:
        return bytes(ffi.buffer(pointer, length))
    finally:
        library().kii_push_free(pointer)


def json_object(**members: Any) -> bytes:
    """An object as the library reads it. A member that is None is left to the library's default."""
    present = {name: value for name, value in members.items() if value is not None}
    return json.dumps(present, allow_nan=False).encode()
