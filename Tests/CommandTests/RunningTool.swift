import Foundation

/// A run that goes on. What it writes is taken up as it comes, so it never waits for a test that reads late.
final class RunningTool {
    private let process = Process()
    var processID: Int32 { self.process.processIdentifier }
    private let output = OutputReader()
    private let error = OutputReader()

    init(executable: URL, arguments: [String], input: String?, environment: [String: String]) throws {
        self.process.executableURL = executable
        self.process.arguments = arguments
        self.process.environment = environment
        self.process.standardOutput = self.output.pipe
        self.process.standardError = self.error.pipe
        let pipe = Pipe()
        self.process.standardInput = input == nil ? FileHandle.nullDevice : pipe
        try self.process.run()
        self.output.start()
        self.error.start()
        if let input {
            try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try pipe.fileHandleForWriting.close()
        }
    }

    deinit {
        guard self.process.isRunning else { return }
        self.process.terminate()
        self.process.waitUntilExit()
    }

    func signal(_ number: Int32) {
        kill(self.process.processIdentifier, number)
    }

    /// Returns what was written to standard output once `text` is among it; what there is when the tool ends or 30 s
    /// are over without.
    func output(containing text: String) -> String { self.output.wait { $0.contains(text) } }

    /// The same for standard error.
    func error(containing text: String) -> String { self.error.wait { $0.contains(text) } }

    func waitForExit() -> Tool.Result {
        let output = self.output.wait { _ in false }
        let error = self.error.wait { _ in false }
        self.process.waitUntilExit()
        let isSignalled = self.process.terminationReason == .uncaughtSignal
        return Tool.Result(
            exit: isSignalled ? -self.process.terminationStatus : self.process.terminationStatus,
            output: output,
            error: error
        )
    }
}

/// Reads a pipe to its end on a thread of its own.
private final class OutputReader: @unchecked Sendable {
    // Proof for @unchecked Sendable: `data` and `isAtEnd` are touched with `condition` locked alone; `pipe` is constant.
    let pipe = Pipe()
    private let condition = NSCondition()
    private var data = Data()
    private var isAtEnd = false

    func start() {
        Thread.detachNewThread { [self] in
            while true {
                let chunk = self.pipe.fileHandleForReading.availableData
                self.condition.lock()
                self.data.append(chunk)
                self.isAtEnd = chunk.isEmpty
                self.condition.broadcast()
                self.condition.unlock()
                if chunk.isEmpty { return }
            }
        }
    }

    /// The text when `isEnough` says so, at the end, or when 30 s are over.
    func wait(until isEnough: (String) -> Bool) -> String {
        let deadline = Date(timeIntervalSinceNow: 30)
        self.condition.lock()
        defer { self.condition.unlock() }
        while !self.isAtEnd, !isEnough(String(decoding: self.data, as: UTF8.self)) {
            guard self.condition.wait(until: deadline) else { break }
        }
        return String(decoding: self.data, as: UTF8.self)
    }
}
