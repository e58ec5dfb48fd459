import Foundation
import Glibc
import TestSupport
import Testing

/// A running tool, which `deinit` ends.
final class RunningTool {
    /// Limit of each wait for a tool: longer than any step takes on a busy machine.
    private static let patience: TimeInterval = 600

    private let words: [String]
    private let program: ChildProgram

    init(_ words: [String], input: String? = nil, environment: [String: String]) throws {
        self.words = words
        self.program = try ChildProgram(words, environment: environment, input: input)
    }

    deinit {
        // SIGTERM first, so that the tool also ends the programs that it started.
        self.program.signal(SIGTERM)
        _ = self.program.output.waitForEnd(RunningTool.patience)
    }

    var processID: Int32 { self.program.processID }

    func signal(_ number: Int32) { self.program.signal(number) }

    /// Waits until standard output contains `text`, the tool ends, or the time is over. Returns the output up to then.
    func output(containing text: String) -> String {
        self.program.output.wait(RunningTool.patience) { $0.contains(text) }
    }

    func output(until isEnough: (String) -> Bool) -> String {
        self.program.output.wait(RunningTool.patience, until: isEnough)
    }

    func error(containing text: String, within patience: TimeInterval = RunningTool.patience) -> String {
        self.program.errors.wait(patience) { $0.contains(text) }
    }

    func error(until isEnough: (String) -> Bool) -> String {
        self.program.errors.wait(RunningTool.patience, until: isEnough)
    }

    /// Polls until `isSo` returns `true`. Records an issue when the time is over.
    func waitUntil(sourceLocation: SourceLocation = #_sourceLocation, _ isSo: () throws -> Bool) {
        let end = Date.now + RunningTool.patience
        while Date.now < end {
            if (try? isSo()) == true { return }
            usleep(20_000)
        }
        Issue.record("it does not come about: \(self.words.joined(separator: " "))", sourceLocation: sourceLocation)
    }

    /// Ends the tool gracefully, which has to succeed.
    func stop(sourceLocation: SourceLocation = #_sourceLocation) {
        self.signal(SIGTERM)
        #expect(self.waitForExit().exit == 0, sourceLocation: sourceLocation)
    }

    /// Waits for the end of the tool alone: programs that it started may still hold its output.
    func waitForDeath() { _ = self.program.wait() }

    /// Waits for the end of the tool, and returns its result. If the tool does not end, this kills it and records an
    /// issue.
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
