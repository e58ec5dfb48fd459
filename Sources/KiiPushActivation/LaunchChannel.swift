import Glibc
public import KiiPushCore

/// The socket to the ``Activator`` that started this process.
package final class LaunchChannel: Sendable {
    /// This process's channel; `nil` if no activator started the process. The first access reads the first message.
    package static let inherited = Result { () throws(PushAgentError) in try LaunchChannel.inherit() }

    private struct Output {
        var rest: [UInt8] = []
        var closedAt: MonotonicInstant?
    }

    package let first: ActivationMessage
    private let socket: FileDescriptor
    private let input: Locked<MessageReader>
    private let isTaken = Locked(false)
    private let output = Monitor(Output())

    /// The longest wait for more of the first message, which the activator sends when it starts the process.
    private static let patience = Duration.seconds(10)

    package init(descriptor: Int32) throws(PushAgentError) {
        func option(_ name: Int32) -> Int32? {
            var value: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
        }
        guard fcntl(descriptor, F_GETFD) >= 0 else {
            throw .launch("names descriptor \(descriptor), which is closed")
        }
        guard option(SO_DOMAIN) == AF_UNIX, option(SO_TYPE) == Int32(SOCK_STREAM.rawValue) else {
            throw .launch("names descriptor \(descriptor), which is no local stream socket")
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.socket = FileDescriptor(descriptor)
        var input = MessageReader(socket: self.socket)
        self.socket.limit(SO_RCVTIMEO, to: LaunchChannel.patience)
        guard let line = try input.next() else {
            throw .launch("names descriptor \(descriptor), over which no message came")
        }
        guard case .message(let first) = line else { throw .malformed("the first line is no message") }
        self.socket.limit(SO_RCVTIMEO, to: .zero)
        self.first = first
        self.input = Locked(input)
    }

    private static func inherit() throws(PushAgentError) -> LaunchChannel? {
        guard let text = getenv(MessageFeed.launchVariable).map({ String(cString: $0) }) else { return nil }
        unsetenv(MessageFeed.launchVariable)
        MessageFeed.isUnclaimed.withLock { $0 = true }
        guard let descriptor = Int32(text), descriptor > 2 else {
            throw .launch("is no number of a descriptor above 2")
        }
        return try LaunchChannel(descriptor: descriptor)
    }

    package var launchOptions: LaunchOptions {
        // An undecodable payload gives no options, since handlers do not get the payload either.
        guard let message = try? ReceivedMessage(payload: self.first.payload) else { return LaunchOptions() }
        return LaunchOptions(
            remoteNotification: message, messageID: self.first.id, userAction: self.first.userAction,
            installationID: self.first.installationID)
    }

    /// Reserves the channel for one agent. Returns `false` if the channel is already reserved.
    package func take() -> Bool {
        self.isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }

    package func next() throws(PushAgentError) -> ActivationLine? {
        try self.input.withLock { input throws(PushAgentError) in try input.next() }
    }

    /// Sends an answer without blocking. ``sendRest(patience:)`` sends the rest if the socket is full. If the socket
    /// closes first, the activator counts the message as failed.
    package func send(_ answer: ActivationAnswer) {
        let line = answer.line
        self.output.withLock { output in
            guard output.closedAt == nil else { return }
            // Sends nothing while older bytes wait, so that lines keep their order.
            let count = output.rest.isEmpty ? max(0, self.socket.send(line[...], flags: Int(MSG_DONTWAIT))) : 0
            output.rest += line[count...]
        }
        self.output.signalAll()
    }

    /// Sends the bytes that did not fit into the socket. Blocks the calling thread until ``close()`` was called and no
    /// bytes are left, then shuts the socket down. A waiting ``next()`` then returns `nil`.
    ///
    /// - Parameter patience: the longest wait after ``close()`` for an activator that does not read. The rest is then
    ///   dropped.
    package func sendRest(patience: Duration) {
        // A limit of 1 s for each call of `send`, so that the loop notices a closed channel.
        self.socket.limit(SO_SNDTIMEO, to: .seconds(1))
        while let rest = self.waitForRest() {
            let count = self.socket.send(rest[...])
            let isLate = count < 0 && errno == EAGAIN
            self.output.withLock { output in
                if isLate, output.closedAt.map({ MonotonicInstant.now() < $0 + patience }) ?? true { return }
                output.rest.removeFirst(count > 0 ? count : output.rest.count)
            }
        }
        self.socket.shutDown(.both)
    }

    private func waitForRest() -> [UInt8]? {
        self.output.wait { output in
            guard output.rest.isEmpty else { return .leave(output.rest) }
            return output.closedAt != nil ? .leave(nil) : .sleep(until: nil)
        }
    }

    package func close() {
        self.output.withLock { $0.closedAt = $0.closedAt ?? .now() }
        self.output.signalAll()
    }
}

private struct MessageReader {
    let socket: FileDescriptor
    private var buffer = LineBuffer()
    private var lines: [[UInt8]] = []

    init(socket: FileDescriptor) { self.socket = socket }

    mutating func next() throws(PushAgentError) -> ActivationLine? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while self.lines.isEmpty {
            let count = self.socket.receive(into: &bytes)
            guard count > 0 else { return nil }
            for line in self.buffer.lines(from: bytes[..<count]) {
                guard let line else { throw .malformed("a line is longer than 64 MiB") }
                self.lines.append(line)
            }
        }
        do throws(JSONMemberError) {
            return try ActivationLine(line: self.lines.removeFirst())
        } catch {
            throw .malformed(error.description)
        }
    }
}

extension PushAgentError {
    /// `problem` continues a sentence that begins with `KII_PUSH_LAUNCH_FD`.
    fileprivate static func launch(_ problem: String) -> PushAgentError {
        .feed(
            reason: "KII_PUSH_LAUNCH_FD \(problem); only `kii-push run --activate` and Activator set it: unset it, and "
                + "the program receives from the broker")
    }

    fileprivate static func malformed(_ problem: String) -> PushAgentError {
        .launch("names a descriptor that does not speak the protocol (\(problem))")
    }
}

extension LaunchOptions {
    /// The first message of the ``Activator`` (or `kii-push run --activate`) that started this process. Empty in any
    /// other process, and if the payload cannot be decoded.
    ///
    /// The first access reads the message, which is normally there already. If `KII_PUSH_LAUNCH_FD` names no
    /// activator's socket, the options are empty, and `run()` of an agent with `feed: .activator` throws
    /// ``PushAgentError/feed(reason:)``.
    ///
    /// ```swift
    /// let lifecycle = AgentLifecycle(launchOptions: .current)
    /// ```
    public static var current: LaunchOptions {
        guard case .success(let channel?) = LaunchChannel.inherited else { return LaunchOptions() }
        return channel.launchOptions
    }
}
