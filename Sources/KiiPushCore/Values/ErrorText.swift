import Glibc

/// What the system says about an `errno` value.
func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
