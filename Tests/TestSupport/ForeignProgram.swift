import Foundation
import Glibc

/// A program that is not this project's, run beside the code under test.
package struct ForeignProgram: Sendable {
    /// What an ended program said.
    package struct Result: Sendable {
        package var status: Int32
        package var output: String
        package var errors: String
    }

    private let words: [String]

    /// A program, found along the PATH, with its arguments.
    package init(_ words: String...) { self.words = words }

    /// The same with arguments that were gathered.
    package init(_ words: [String]) { self.words = words }

    /// Runs it to its end.
    package func run() async throws -> Result {
        let (output, errors) = (Pipe(), Pipe())
        let process = self.process(output: output, errors: errors)
        return try await withCheckedThrowingContinuation { continuation in
            // On a thread of its own, which may block; nothing has to be read from `errors` meanwhile, since no program
            // here says more than fits a pipe.
            Thread.detachNewThread {
                continuation.resume(
                    with: Swift.Result {
                        try process.run()
                        let said = output.fileHandleForReading.readDataToEndOfFile()
                        let complained = errors.fileHandleForReading.readDataToEndOfFile()
                        process.waitUntilExit()
                        return Result(
                            status: process.terminationStatus,
                            output: String(decoding: said, as: UTF8.self),
                            errors: String(decoding: complained, as: UTF8.self))
                    })
            }
        }
    }

    /// Starts it, hands its lines to `body` as they come, and ends it when `body` returns or the lines do.
    package func whileRunning<Outcome>(
        _ body: (AsyncStream<String>) async throws -> Outcome
    ) async throws -> Outcome {
        let output = Pipe()
        let process = self.process(output: output, errors: output)
        try process.run()
        let (lines, continuation) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            var pending: [UInt8] = []
            while true {
                let chunk = output.fileHandleForReading.availableData
                guard !chunk.isEmpty else { break }
                pending += chunk
                while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: pending[..<end], as: UTF8.self))
                    pending.removeFirst(end + 1)
                }
            }
            continuation.finish()
        }
        defer {
            // A child inherits the signals that Dispatch's threads block, SIGTERM among them.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        return try await body(lines)
    }

    private func process(output: Pipe, errors: Pipe) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = self.words
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        return process
    }
}
