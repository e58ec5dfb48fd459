import Foundation
import Glibc

/// A program that is not this project's, run beside the code under test.
package struct ForeignProgram: Sendable {
    /// What an ended program said.
    package struct Result: Sendable {
        /// Its exit status; negative is the signal that ended it.
        package var status: Int32
        package var output: String
        package var errors: String
    }

    private let words: [String]
    private let environment: [String: String]?

    /// A program, found along the PATH, with its arguments.
    package init(_ words: String...) { self.init(words) }

    /// The same with arguments that were gathered, and with another environment than this process's.
    package init(_ words: [String], environment: [String: String]? = nil) {
        self.words = words
        self.environment = environment
    }

    /// Runs it to its end.
    package func run() async throws -> Result {
        let child = try ChildProgram(self.words, environment: self.environment)
        return try await onThread {
            let (output, errors) = (child.output.all(), child.errors.all())
            return Result(status: child.wait(), output: output, errors: errors)
        }
    }

    /// Starts it, hands the lines that it says to `body` as they come, and kills it when `body` returns.
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
