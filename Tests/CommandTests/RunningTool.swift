import Foundation
import Glibc
import TestSupport
import Testing

/// A run that goes on. Ended with this object.
final class RunningTool {
    /// How long a tool is waited for that does not do what it is to do: longer than it takes on any busy machine.
    private static let patience: TimeInterval = 600

    private let words: [String]
    private let program: ChildProgram

    init(_ words: [String], input: String? = nil, environment: [String: String]) throws {
        self.words = words
        self.program = try ChildProgram(words, environment: environment, input: input)
    }

    deinit {
        // What it has started is to end with it.
        self.program.signal(SIGTERM)
        _ = self.program.output.waitForEnd(RunningTool.patience)
    }

    var processID: Int32 { self.program.processID }

    func signal(_ number: Int32) { self.program.signal(number) }

    /// Returns what was written to standard output once `text` is among it; what there is when the tool ends or the time
    /// is over without.
    func output(containing text: String) -> String {
        self.program.output.wait(RunningTool.patience) { $0.contains(text) }
    }

    /// The same once `isEnough` says so.
    func output(until isEnough: (String) -> Bool) -> String {
        self.program.output.wait(RunningTool.patience, until: isEnough)
    }

    /// The same for standard error.
    func error(containing text: String, within patience: TimeInterval = RunningTool.patience) -> String {
        self.program.errors.wait(patience) { $0.contains(text) }
    }

    /// The same for standard error, once `isEnough` says so.
    func error(until isEnough: (String) -> Bool) -> String {
        self.program.errors.wait(RunningTool.patience, until: isEnough)
    }

    /// Asks again and again until it is so. A time that is over before is a failure.
    func waitUntil(sourceLocation: SourceLocation = #_sourceLocation, _ isSo: () throws -> Bool) {
        let end = Date.now + RunningTool.patience
        while Date.now < end {
            if (try? isSo()) == true { return }
            usleep(20_000)
        }
        Issue.record("it does not come about: \(self.words.joined(separator: " "))", sourceLocation: sourceLocation)
    }

    /// Has it end gracefully, which has to succeed.
    func stop(sourceLocation: SourceLocation = #_sourceLocation) {
        self.signal(SIGTERM)
        #expect(self.waitForExit().exit == 0, sourceLocation: sourceLocation)
    }

    /// Waits for the end of the tool alone: what it has started may still hold its output.
    func waitForDeath() { _ = self.program.wait() }

    /// Returns how the tool ended and all that it has written. One that does not end is killed, and is a failure.
    func waitForExit() -> Tool.Result {
        let isEnded =
            self.program.output.waitForEnd(RunningTool.patience)
            && self.program.errors.waitForEnd(RunningTool.patience)
        if !isEnded {
            Issue.record("it does not end: \(self.words.joined(separator: " "))")
            self.signal(SIGKILL)
        }
        return Tool.Result(
            exit: self.program.wait(), output: self.program.output.all(), error: self.program.errors.all())
    }
}
