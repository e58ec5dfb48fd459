import Glibc

/// What the system says about an `errno` value.
package func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
