import Glibc

/// Asks the process that receives with a state directory, over its control socket
/// (``PushRuntime/Configuration/hasControlSocket``).
///
/// Each object has one purpose: to decide about messages, call after call, or to watch. The calls block until the other
/// process answers; ``watch()`` does not. After a call without an answer (``InboxAccessError/silent``) every further
/// call throws the same, since a late answer would pass for the answer to the next call.
package final class ControlClient: Sendable {
    private let socket: FileDescriptor
    private let patience: Duration
    private let inbound = Locked(Inbound())

    private struct Inbound {
        var lines = ControlLines()
        var unread: [[UInt8]] = []
        /// Whether an answer is still due that nobody waits for.
        var isSilent = false
    }

    /// Connects to the control socket.
    ///
    /// - Parameter patience: the longest time for each call.
    /// - Returns: `nil` where nobody listens: no process receives with the directory, or its process has no control
    ///   socket.
    package init?(stateDirectory: String, patience: Duration = ControlSocket.patience) throws(FileError) {
        do throws(FileError) {
            self.socket = try ControlSocket.connect(in: stateDirectory, patience: patience)
        } catch {
            if case .system(_, _, let code) = error, [ENOENT, ECONNREFUSED, ENOTDIR].contains(code) { return nil }
            throw error
        }
        self.patience = patience
    }

    /// Has a message tried again now; see ``PushRuntime/retry(_:)``.
    package func retry(_ messageID: Int64) throws(InboxAccessError) -> MessageDecision {
        try self.decide(.retry, messageID)
    }

    /// Removes a message for good; see ``PushRuntime/drop(_:)``.
    package func drop(_ messageID: Int64) throws(InboxAccessError) -> MessageDecision {
        try self.decide(.drop, messageID)
    }

    /// Has an installation handle the messages of another one; see ``PushRuntime/adopt(_:by:)``.
    package func adopt(_ formerID: String, by installationID: String) throws(InboxAccessError) -> Int? {
        try self.answer(to: .adopt(formerID: formerID, installationID: installationID)) { reply in
            if case .adopted(formerID, let count) = reply { .some(count) } else { nil }
        }
    }

    /// Asks for the events of the process's agents from now on, after the states of their connections.
    ///
    /// The sequence ends when the process does, when it shuts its runtime down, or when the reading task is cancelled.
    /// Call it once.
    package func watch() throws(InboxAccessError) -> ControlNotices {
        try self.ask(.watch)
        let notices = Result { () throws(SystemError) in try ControlNotices(self) }
        return try notices.mapError { InboxAccessError.refused(reason: $0.description) }.get()
    }

    /// Makes the same request as ``watch()``, and reads on the calling thread until the end.
    package func watch(_ body: (ControlNotice) -> Void) throws(InboxAccessError) {
        try self.ask(.watch)
        while let notice = self.nextNotice() { body(notice) }
    }

    /// Ends the connection, so that its reader finds the end.
    package func interrupt() { self.socket.shutDown(.both) }

    private func decide(
        _ decision: PushRuntime.Decision, _ messageID: Int64
    ) throws(InboxAccessError) -> MessageDecision {
        try self.answer(to: .decide(decision, messageID)) { reply in
            if case .decided(messageID, let outcome) = reply { outcome } else { nil }
        }
    }

    /// Sends a request, and waits for the reply that `read` accepts as the answer.
    private func answer<Answer>(
        to request: ControlRequest, _ read: (ControlReply) -> Answer?
    ) throws(InboxAccessError) -> Answer {
        self.socket.limit(SO_RCVTIMEO, to: self.patience)
        try self.ask(request)
        while true {
            let reply = try self.nextReply()
            // A request that the process did not understand has no number; a failure without one can only be its reply.
            if case .failed(let id, let reason) = reply, id == nil || id == request.messageID {
                throw .refused(reason: reason)
            }
            if let answer = read(reply) { return answer }
        }
    }

    /// The error for a call without an answer; the client is of no further use.
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

    /// Waits for a reply. It skips unknown replies: a later version sends them.
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
