import Glibc

/// Asks the process that receives with a state directory. One thread at a time; the calls block.
package final class ControlClient {
    private let descriptor: Int32
    private let path: String
    private var lines = ControlLines()
    private var unread: [[UInt8]] = []

    /// Connects.
    ///
    /// - Returns: `nil` where nobody listens: no process receives with the directory, or one that has no control socket.
    /// - Throws: ``FileError`` when the socket cannot be used.
    package init?(stateDirectory: String) throws(FileError) {
        do throws(FileError) {
            self.descriptor = try ControlSocket.connect(in: stateDirectory)
        } catch {
            if case .system(_, _, let code) = error, [ENOENT, ECONNREFUSED, ENOTDIR].contains(code) { return nil }
            throw error
        }
        self.path = ControlSocket.path(in: stateDirectory)
    }

    deinit { close(self.descriptor) }

    /// Has a dead letter tried again, or dropped.
    ///
    /// - Returns: whether it was a dead letter.
    /// - Throws: ``ControlError``.
    package func retryDeadLetter(_ id: Int64) throws(ControlError) -> Bool { try self.change(id, .retry(id)) }

    /// As ``retryDeadLetter(_:)``.
    package func dropDeadLetter(_ id: Int64) throws(ControlError) -> Bool { try self.change(id, .drop(id)) }

    /// Asks for every event from now on, and first for the state of the connection; ``nextEvent()`` has them.
    package func watch() throws(ControlError) { try self.ask(.watch) }

    /// What a watcher is told.
    package enum Notice: Sendable {
        case event(PushEvent)
        /// So many events were left out, because this process did not read them in time.
        case missed(Int)
    }

    /// The next event; `nil` when the process has ended, or receives no more.
    package func nextNotice() throws(ControlError) -> Notice? {
        while let reply = try self.nextReply() {
            switch reply {
            case .event(let event): return .event(event)
            case .missed(let count): return .missed(count)
            case .changed, .failed: continue
            }
        }
        return nil
    }

    /// Has the call of ``nextNotice()`` that goes on in another thread return `nil`.
    package static func interrupt(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// What ``interrupt(_:)`` wants.
    package var interruptible: Int32 { self.descriptor }

    private func change(_ id: Int64, _ request: ControlRequest) throws(ControlError) -> Bool {
        try self.ask(request)
        while let reply = try self.nextReply() {
            switch reply {
            case .changed(id, let isChanged): return isChanged
            case .failed(_, let reason): throw .refused(reason: reason)
            case .changed, .event, .missed: continue
            }
        }
        throw .ended
    }

    private func ask(_ request: ControlRequest) throws(ControlError) {
        var bytes = request.line[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .ended }
            bytes = bytes.dropFirst(count)
        }
    }

    /// `nil` at the end of the connection. What is not understood is of a later version, and left out.
    private func nextReply() throws(ControlError) -> ControlReply? {
        while true {
            while !self.unread.isEmpty {
                if let reply = ControlReply(line: self.unread.removeFirst()) { return reply }
            }
            var chunk = [UInt8](repeating: 0, count: 16_384)
            let count = recv(self.descriptor, &chunk, chunk.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            guard let lines = self.lines.take(chunk[..<count]) else {
                throw .refused(reason: "\(self.path) speaks another language")
            }
            self.unread = lines
        }
    }
}

/// Why the process that receives did not do what it was asked.
package enum ControlError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It ended, or stopped receiving, before it answered.
    case ended
    /// It could not, for this reason.
    case refused(reason: String)

    package var description: String {
        switch self {
        case .ended: "the process that receives ended before it answered; look whether it was done, and try again"
        case .refused(let reason): reason
        }
    }
}
