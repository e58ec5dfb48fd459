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
    # Loaded at the first call, so that `import kii_push` works without the library.
    name = os.environ.get("KII_PUSH_LIBRARY") or "libkiipush.so.1"
    # NODELETE: threads of the library still run when the interpreter drops the last reference at its end.
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
    """Calls a function of the library, and raises its failure."""
    error = ffi.new("kii_push_error *")
    code = function(*arguments, error)
    if code:
        raise made(error, code)


def made(error: Any, code: int) -> Error:
    return Error(
        text(error.text),
        code,
        status=error.status,
        refusal=text(error.refusal),
        is_temporary=bool(error.temporary),
    )


def text(characters: Any) -> str:
    return str(ffi.string(characters).decode("utf-8", "replace"))


def taken(pointer: Any, length: int) -> bytes:
    """Copies a text of the library, and frees the original."""
    try:
        return bytes(ffi.buffer(pointer, length))
    finally:
        library().kii_push_free(pointer)


def json_object(**members: Any) -> bytes:
    """Makes a JSON object. Leaves out members that are None: the library has defaults for them."""
    present = {name: value for name, value in members.items() if value is not None}
    return json.dumps(present, allow_nan=False).encode()
