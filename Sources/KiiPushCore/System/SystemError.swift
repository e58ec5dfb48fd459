import Glibc

/// Why the system gave no thread, descriptor or socket.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The beginning of a sentence that ends with the system's reason: `no thread can be started`.
    package var failure: String
    /// An `errno` value.
    package var code: Int32

    /// - Parameter code: Default: the reason of the call that has just failed.
    package init(_ failure: String, code: Int32 = errno) {
        self.failure = failure
        self.code = code
    }

    package var description: String { "\(self.failure): \(errorText(self.code))" }
}

/// The system's words for an `errno` value.
package func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
