import Foundation
import Glibc
import KiiPushCore

/// A private bus that starts no services by itself.
package final class Desktop: Sendable {
    package let address: String
    private let directory: String
    private let bus: Locked<ChildProgram?>
    private let lastDaemon = Locked(0)

    /// - Parameter directory: the folder of the bus's socket.
    package init(in directory: String) async throws {
        self.directory = directory
        let configuration = "\(directory)/bus.conf"
        try Data(
            """
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(directory)/bus</listen>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """.utf8
        ).write(to: URL(fileURLWithPath: configuration))
        let (lines, continuation) = AsyncStream<String>.makeStream()
        let bus = try ChildProgram(
            ["dbus-daemon", "--config-file", configuration, "--nofork", "--nopidfile", "--print-address"]
        ) { continuation.yield($0) }
        self.bus = Locked(bus)
        var iterator = lines.makeAsyncIterator()
        guard let address = await iterator.next() else {
            throw TestFailure("the bus did not start: \(bus.errors.all())")
        }
        self.address = address
    }

    package func end() { self.bus.withLock { $0 = nil } }

    /// Freezes the bus: it accepts connections, but answers nothing.
    package func suspend() { self.bus.withLock { $0?.signal(SIGSTOP) } }

    package func startDaemon(
        _ capabilities: [String] = ["actions", "body", "body-markup", "persistence"]
    ) async throws -> NotificationDaemon {
        let number = self.lastDaemon.withLock { last in
            last += 1
            return last
        }
        let control = "\(self.directory)/daemon-\(number)"
        guard mkfifo(control, 0o600) == 0 else { throw TestFailure("cannot make \(control)") }
        return try await NotificationDaemon(address: self.address, control: control, capabilities)
    }
}

/// A notification service that runs beside the test. Killed with this object.
package final class NotificationDaemon: Sendable {
    package struct Notification: Decodable, Sendable {
        package var id: Int
        package var name: String
        package var icon: String
        package var title: String
        package var body: String
        package var actions: [String]
        package var hints: Hints
        package var timeout: Int

        package struct Hints: Decodable, Equatable, Sendable {
            package var urgency: Int
            package var soundName: String?
            package var suppressesSound: Bool?
            package var desktopEntry: String?

            package init(
                urgency: Int, soundName: String? = nil, suppressesSound: Bool? = nil, desktopEntry: String? = nil
            ) {
                self.urgency = urgency
                self.soundName = soundName
                self.suppressesSound = suppressesSound
                self.desktopEntry = desktopEntry
            }

            enum CodingKeys: String, CodingKey {
                case urgency
                case soundName = "sound-name"
                case suppressesSound = "suppress-sound"
                case desktopEntry = "desktop-entry"
            }
        }
    }

    private let program: ChildProgram
    private let control: FileHandle
    /// The service's reports. Its confirmations of orders have a separate stream, because they may come before or after
    /// a report.
    private let lines: AsyncStream<String>
    private let obediences: AsyncStream<String>

    fileprivate init(address: String, control: String, _ capabilities: [String]) async throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("notification-daemon.py")
        let (lines, continuation) = AsyncStream<String>.makeStream()
        let (obediences, obedience) = AsyncStream<String>.makeStream()
        (self.lines, self.obediences) = (lines, obediences)
        // Debian's Python, which has Debian's bindings of D-Bus.
        let program = try ChildProgram(
            ["/usr/bin/python3", script.path, address, control] + capabilities, mergesErrors: true
        ) { line in _ = line.hasPrefix("obeyed") ? obedience.yield(line) : continuation.yield(line) }
        self.program = program
        Thread.detachNewThread {
            _ = program.output.all()
            continuation.finish()
            obedience.finish()
        }
        guard let first = await Self.next(of: lines), first == "ready",
            let handle = FileHandle(forWritingAtPath: control)
        else { throw TestFailure("the notification service did not start: \(program.output.all())") }
        self.control = handle
    }

    /// A stopped service would not notice the end of its bus.
    deinit { self.program.signal(SIGKILL) }

    private static func next(of lines: AsyncStream<String>) async -> String? {
        for await line in lines { return line }
        return nil
    }

    /// The service's next report.
    package func nextLine() async throws -> String {
        guard let line = await Self.next(of: self.lines) else {
            throw TestFailure("the notification service has ended")
        }
        return line
    }

    /// The service's next report, without its first word, which has to be `word`.
    package func next(_ word: String) async throws -> String {
        let line = try await self.nextLine()
        guard line.hasPrefix(word) else { throw TestFailure("it says \(line) instead of \(word)") }
        return String(line.dropFirst(word.count + 1))
    }

    package func nextNotification() async throws -> Notification {
        try JSONDecoder().decode(Notification.self, from: Data(try await self.next("notify").utf8))
    }

    /// Sends an order, and waits until the service has carried it out.
    package func order(_ order: String) async throws {
        try self.control.write(contentsOf: Data("\(order)\n".utf8))
        guard await Self.next(of: self.obediences) != nil else {
            throw TestFailure("the notification service has ended")
        }
    }

    package func kill() {
        self.program.signal(SIGKILL)
        _ = self.program.wait()
    }
}
