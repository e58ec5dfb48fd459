import Glibc
import KiiPushCore

final class ActivatedProgram {
    enum Output {
        case answer(ActivationAnswer)
        case nonsense(String)
        /// The program closed the socket, or sent 100 unreadable lines or a line over 64 KiB.
        case end
    }

    private static let descriptorNumber: Int32 = 3
    private static let mostNonsense = 100

    private let process: ChildProcess
    private let channel: FileDescriptor?
    private var isOpen: Bool
    private var output: [UInt8] = []
    private var closesInput = false
    // 64 KiB is enough for an answer: this library cuts the reason of `reject` to 500 Unicode scalars.
    private var lines = LineBuffer(limit: 65_536)
    private var nonsense = 0
    private var hasReportedInvalid = false
    private var knownBadge: Int?
    private var wantsBadge = false

    var processID: Int32 { self.process.processID }

    init(
        _ configuration: Activator.Configuration, first: ActivationMessage, environment: [String: String],
        whenEnded: @escaping @Sendable (Int32, ChildProcess.Ending) -> Void
    ) throws(SystemError) {
        guard !configuration.command.isEmpty else {
            throw SystemError(starting: "a program without a name", code: ENOENT)
        }
        var launch = ChildProcess.Launch(configuration.command)
        launch.environment = configuration.environment.merging(environment) { $1 }
        launch.withheld = configuration.withheldVariables
        launch.sendsOutputToStandardError = configuration.sendsOutputToStandardError
        do throws(SystemError) {
            switch configuration.input {
            case .descriptor:
                let (ours, theirs) = try FileDescriptor.connectedPair()
                launch.environment[MessageFeed.launchVariable] = "\(Self.descriptorNumber)"
                launch.descriptors[Self.descriptorNumber] = theirs
                self.channel = ours
            case .standardInput:
                launch.descriptors[0] = try FileDescriptor.memoryFile(holding: first.payload)
                self.channel = nil
            }
        } catch {
            throw error.hindering("start \(launch.words[0])")
        }
        self.isOpen = self.channel != nil
        self.process = try Self.start(launch, whenEnded: whenEnded)
        if self.isOpen { self.send(first) }
    }

    /// One thread starts the program and waits for its end. So if no thread can be created, no program is started.
    private static func start(
        _ launch: ChildProcess.Launch, whenEnded: @escaping @Sendable (Int32, ChildProcess.Ending) -> Void
    ) throws(SystemError) -> ChildProcess {
        let program = launch.words[0]
        let started = Monitor<Result<ChildProcess, SystemError>?>(nil)
        // An optional, so that ``spawn(_:)`` can close this process's copy of the program's end of the socket. An open
        // copy would hide that the program closed the socket.
        let launch = Locked<ChildProcess.Launch?>(launch)
        do throws(SystemError) {
            try OSThread(name: "kii-reaper") {
                guard let result = Self.spawn(launch) else { return }
                started.withLock { $0 = result }
                started.signal()
                if case .success(let process) = result { whenEnded(process.processID, process.wait()) }
            }.detach()
        } catch {
            throw error.hindering("start \(program)")
        }
        return try started.wait { $0.map { .leave($0) } ?? .sleep(until: nil) }.get()
    }

    private static func spawn(_ launch: Locked<ChildProcess.Launch?>) -> Result<ChildProcess, SystemError>? {
        guard let launch = launch.withLock({ $0.take() }) else { return nil }
        return Result { () throws(SystemError) in try ChildProcess(launch) }
    }

    func end(with signal: Int32) { self.process.end(with: signal) }

    func send(_ message: ActivationMessage) {
        self.knownBadge = message.badge
        self.output += message.line
        self.write()
    }

    func followBadge() { self.wantsBadge = true }

    func hasSetBadge() { self.knownBadge = nil }

    func tell(badge: Int) {
        guard self.wantsBadge, !self.closesInput, badge != self.knownBadge else { return }
        self.knownBadge = badge
        self.output += ActivationLine.badge(badge).line
        self.write()
    }

    func closeInput() {
        self.closesInput = true
        self.write()
    }

    var hasOutput: Bool { !self.output.isEmpty }

    func write() {
        guard self.isOpen, let channel = self.channel else { return self.output = [] }
        while !self.output.isEmpty {
            let count = channel.send(self.output[...], flags: Int(MSG_DONTWAIT))
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { return self.output = [] }
            self.output.removeFirst(count)
        }
        if self.closesInput { channel.shutDown(.writing) }
    }

    var openDescriptor: Int32? { self.isOpen ? self.channel?.number : nil }

    /// Reads at most 512 KiB, so that a program that writes without end does not block the activator's thread.
    func read() -> [Output] {
        var heard: [Output] = []
        var bytes = [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<8 {
            guard self.isOpen, let channel = self.channel else { break }
            let count = channel.receive(into: &bytes, flags: Int(MSG_DONTWAIT))
            if count < 0, errno == EAGAIN { break }
            guard count > 0 else {
                self.hangUp(&heard)
                break
            }
            for line in self.lines.lines(from: bytes[..<count]) { self.hear(line, &heard) }
        }
        return heard
    }

    private func hear(_ line: [UInt8]?, _ heard: inout [Output]) {
        guard self.isOpen else { return }
        guard let line else {
            self.nonsense = Self.mostNonsense
            return self.countInvalid("a line is longer than 64 KiB", &heard)
        }
        guard !line.isEmpty else { return }
        do throws(JSONMemberError) {
            heard.append(.answer(try ActivationAnswer(line: line)))
        } catch {
            self.countInvalid(error.description, &heard)
        }
    }

    private func countInvalid(_ reason: String, _ heard: inout [Output]) {
        self.nonsense += 1
        if !self.hasReportedInvalid { heard.append(.nonsense(reason)) }
        self.hasReportedInvalid = true
        if self.nonsense >= Self.mostNonsense { self.hangUp(&heard) }
    }

    private func hangUp(_ heard: inout [Output]) {
        self.isOpen = false
        self.channel?.shutDown(.both)
        heard.append(.end)
    }
}
