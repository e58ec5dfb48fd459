import Foundation
import Glibc

/// An external program that runs beside the code under test.
package struct ForeignProgram: Sendable {
    package struct Result: Sendable {
        /// The exit status; a negative number is a signal.
        package var status: Int32
        package var output: String
        package var errors: String
    }

    private let words: [String]
    private let environment: [String: String]?

    package init(_ words: String...) { self.init(words) }

    /// - Parameter environment: replaces the environment of this process.
    package init(_ words: [String], environment: [String: String]? = nil) {
        self.words = words
        self.environment = environment
    }

    package func run() async throws -> Result {
        let child = try ChildProgram(self.words, environment: self.environment)
        return try await onThread {
            let (output, errors) = (child.output.all(), child.errors.all())
            return Result(status: child.wait(), output: output, errors: errors)
        }
    }

    /// Starts the program, passes its lines to `body`, and kills the program when `body` returns.
    package func whileRunning<Outcome>(
        _ body: (AsyncStream<String>) async throws -> Outcome
    ) async throws -> Outcome {
        let (lines, continuation) = AsyncStream<String>.makeStream()
        let child = try ChildProgram(self.words, environment: self.environment, mergesErrors: true) {
            continuation.yield($0)
        }
        Thread.detachNewThread {
            _ = child.output.all()
            continuation.finish()
        }
        defer {
            child.signal(SIGKILL)
            _ = child.wait()
        }
        return try await body(lines)
    }
}
