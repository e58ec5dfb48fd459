import Foundation
import Glibc
import KiiPushCore

/// A bus of a test's own, on which nothing is started by itself.
package final class Desktop: Sendable {
    package let address: String
    private let directory: String
    private let bus: Locked<ChildProgram?>
    private let lastDaemon = Locked(0)

    /// - Parameter directory: for the bus's socket.
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

    /// Ends the bus as a session ends.
    package func end() { self.bus.withLock { $0 = nil } }

    /// Has the bus take connections, and answer nothing.
    package func suspend() { self.bus.withLock { $0?.signal(SIGSTOP) } }

    /// Starts a notification service, and waits until the bus knows it.
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
    /// What it was told to show.
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
    /// What it says; and that it has done what it was ordered to, which may come before or after that.
    private let lines: AsyncStream<String>
    private let obediences: AsyncStream<String>

    fileprivate init(address: String, control: String, _ capabilities: [String]) async throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("notification-daemon.py")
        let (lines, continuation) = AsyncStream<String>.makeStream()
        let (obediences, obedience) = AsyncStream<String>.makeStream()
        (self.lines, self.obediences) = (lines, obediences)
        // Debian's Python, which has Debian's bindings.
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

    /// One that hangs does not notice that its bus has ended.
    deinit { self.program.signal(SIGKILL) }

    private static func next(of lines: AsyncStream<String>) async -> String? {
        for await line in lines { return line }
        return nil
    }

    /// The next line that it says of itself.
    package func nextLine() async throws -> String {
        guard let line = await Self.next(of: self.lines) else {
            throw TestFailure("the notification service has ended")
        }
        return line
    }

    /// The next line that it says of itself, which is to begin with `word`; without that.
    package func next(_ word: String) async throws -> String {
        let line = try await self.nextLine()
        guard line.hasPrefix(word) else { throw TestFailure("it says \(line) instead of \(word)") }
        return String(line.dropFirst(word.count + 1))
    }

    /// What it is told to show next.
    package func nextNotification() async throws -> Notification {
        try JSONDecoder().decode(Notification.self, from: Data(try await self.next("notify").utf8))
    }

    /// Gives it an order, and waits until it is carried out.
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
