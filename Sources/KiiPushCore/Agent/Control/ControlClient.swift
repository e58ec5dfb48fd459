import Glibc

/// A client for the control socket of the process that receives with a state directory.
///
/// Use one client either for decisions about messages or to watch events, never for both. ``retry(_:)``, ``drop(_:)``
/// and ``adopt(_:by:)`` block until the other process answers. After a timeout (``InboxAccessError/silent``), every
/// later call fails as well: the late answer could otherwise pass for the answer to a later call.
package final class ControlClient: Sendable {
    private let socket: FileDescriptor
    private let patience: Duration
    private let inbound = Locked(Inbound())

    private struct Inbound {
        var lines = ControlLines()
        var unread: [[UInt8]] = []
        var isSilent = false
    }

    /// Connects to the control socket.
    ///
    /// - Parameter patience: the time limit for connecting, sending and each answer.
    /// - Returns: `nil` if no process receives with the directory, or if that process has no control socket.
    package init?(stateDirectory: String, patience: Duration = ControlSocket.patience) throws(FileError) {
        do throws(FileError) {
            self.socket = try ControlSocket.connect(in: stateDirectory, patience: patience)
        } catch {
            if case .system(_, _, let code) = error, [ENOENT, ECONNREFUSED, ENOTDIR].contains(code) { return nil }
            throw error
        }
        self.patience = patience
    }

    package func retry(_ messageID: Int64) throws(InboxAccessError) -> MessageDecision {
        try self.decide(.retry, messageID)
    }

    package func drop(_ messageID: Int64) throws(InboxAccessError) -> MessageDecision {
        try self.decide(.drop, messageID)
    }

    package func adopt(_ formerID: String, by installationID: String) throws(InboxAccessError) -> Int? {
        try self.answer(to: .adopt(formerID: formerID, installationID: installationID)) { reply in
            if case .adopted(formerID, let count) = reply { .some(count) } else { nil }
        }
    }

    /// Asks for the state of each agent's connection, and then for later events. Call it once.
    ///
    /// The sequence ends when the process ends, when the process shuts its runtime down, or when the reading task is
    /// cancelled.
    package func watch() throws(InboxAccessError) -> ControlNotices {
        try self.ask(.watch)
        let notices = Result { () throws(SystemError) in try ControlNotices(self) }
        return try notices.mapError { InboxAccessError.refused(reason: $0.description) }.get()
    }

    package func watch(_ body: (ControlNotice) -> Void) throws(InboxAccessError) {
        try self.ask(.watch)
        while let notice = self.nextNotice() { body(notice) }
    }

    package func interrupt() { self.socket.shutDown(.both) }

    private func decide(
        _ decision: PushRuntime.Decision, _ messageID: Int64
    ) throws(InboxAccessError) -> MessageDecision {
        try self.answer(to: .decide(decision, messageID)) { reply in
            if case .decided(messageID, let outcome) = reply { outcome } else { nil }
        }
    }

    private func answer<Answer>(
        to request: ControlRequest, _ read: (ControlReply) -> Answer?
    ) throws(InboxAccessError) -> Answer {
        self.socket.limit(SO_RCVTIMEO, to: self.patience)
        try self.ask(request)
        while true {
            let reply = try self.nextReply()
            // The answer to a malformed request has no ID.
            if case .failed(let id, let reason) = reply, id == nil || id == request.messageID {
                throw .refused(reason: reason)
            }
            if let answer = read(reply) { return answer }
        }
    }

    private func silence() -> InboxAccessError {
        self.inbound.withLock { $0.isSilent = true }
        return .silent
    }

    private func ask(_ request: ControlRequest) throws(InboxAccessError) {
        guard !self.inbound.withLock({ $0.isSilent }) else { throw .silent }
        var bytes = request.line[...]
        while !bytes.isEmpty {
            let count = self.socket.send(bytes)
            if count < 0, errno == EAGAIN { throw self.silence() }
            guard count > 0 else { throw .ended }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Skips unknown replies: a later version of the library may send them.
    func nextReply() throws(InboxAccessError) -> ControlReply {
        while true {
            while let line = self.inbound.withLock({ $0.unread.isEmpty ? nil : $0.unread.removeFirst() }) {
                if let reply = ControlReply(line: line) { return reply }
            }
            var chunk = [UInt8](repeating: 0, count: 16_384)
            let count = self.socket.receive(into: &chunk)
            if count < 0, errno == EAGAIN { throw self.silence() }
            guard count > 0 else { throw .ended }
            let bytes = Array(chunk[..<count])
            let isUnderstood = self.inbound.withLock { inbound in
                guard let lines = inbound.lines.take(bytes) else { return false }
                inbound.unread += lines
                return true
            }
            guard isUnderstood else { throw .ended }
        }
    }
}
