import CMicroHTTPD
import KiiPushCore

/// The emulator's events for one reader, as server-sent events.
///
/// libmicrohttpd asks for content, on the server's thread, whenever the reader's socket takes some. Without content the
/// connection is suspended, and the log resumes it. A reader costs its place in the log and the rest of one event. A
/// slow reader misses entries, and gets their number. libmicrohttpd notices that a reader has left only when it sends
/// something.
///
/// - Source: HTML Living Standard, section 9.2.
final class EventStream: Sendable {
    /// The longest time for which a reader's socket may accept nothing.
    private static let patienceSeconds: UInt32 = 60

    private struct State {
        /// The number of the last entry that the reader got; 0 before the first.
        var sequence: Int64
        /// The rest of the current event.
        var unsent: ArraySlice<UInt8>
        /// Whether the connection was suspended since the last event.
        var hasWaited = false
    }

    private enum Step {
        case event(String)
        case nothing
        case end
    }

    private let state: Locked<State>
    private let log: ActivityLog
    private let pending: PendingAnswer
    private let readers: Locked<Int>

    /// - Parameters:
    ///   - pending: the answer whose content this stream is.
    ///   - sequence: the entry after which to begin; `nil` for the first of all.
    ///   - greeting: the first event.
    ///   - readers: the number of readers, which the end of this one decrements.
    init(
        _ log: ActivityLog, for pending: PendingAnswer, after sequence: Int64?, greeting: String, readers: Locked<Int>
    ) {
        // A number beyond the log's comes from an earlier emulator.
        let sequence = sequence.flatMap { (0...log.lastSequence).contains($0) ? $0 : nil }
        self.state = Locked(State(sequence: sequence ?? 0, unsent: Array(greeting.utf8)[...]))
        (self.log, self.pending, self.readers) = (log, pending, readers)
    }

    deinit { self.readers.withLock { $0 -= 1 } }

    func queue(on connection: OpaquePointer) -> MHD_Result {
        let context = Unmanaged.passRetained(self)
        let response = cmhd_stream(
            { context, _, buffer, count in
                guard let context, let buffer else { return cmhd_end_of_stream }
                return Unmanaged<EventStream>.fromOpaque(context).takeUnretainedValue().read(
                    into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
            },
            { context in
                // Balances passRetained: the library calls this once.
                if let context { Unmanaged<EventStream>.fromOpaque(context).release() }
            },
            context.toOpaque())
        guard let response else {
            context.release()
            return .NO
        }
        defer { MHD_destroy_response(response) }
        MHD_add_response_header(response, "Content-Type", "text/event-stream")
        MHD_add_response_header(response, "Cache-Control", "no-store")
        MHD_add_response_header(response, "X-Content-Type-Options", "nosniff")
        cmhd_set_timeout(connection, EventStream.patienceSeconds)
        return MHD_queue_response(connection, 200, response)
    }

    /// Copies unsent bytes and returns their count. 0 means that there are none yet; the connection is then suspended
    /// until there are.
    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        self.state.withLock { state in
            var count = 0
            while count < buffer.count {
                if state.unsent.isEmpty {
                    switch self.next(&state, mayWait: count == 0) {
                    case .event(let text): state.unsent = Array(text.utf8)[...]
                    case .nothing: return count
                    case .end: return count > 0 ? count : cmhd_end_of_stream
                    }
                }
                let part = state.unsent.prefix(buffer.count - count)
                UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyBytes(from: part)
                state.unsent.removeFirst(part.count)
                count += part.count
            }
            return count
        }
    }

    private func next(_ state: inout State, mayWait: Bool) -> Step {
        let isWoken = state.hasWaited
        state.hasWaited = false
        let found = self.log.entry(after: state.sequence) {
            guard mayWait, !isWoken else { return nil }
            state.hasWaited = true
            self.pending.suspend()
            return { [pending = self.pending] in pending.resume() }
        }
        switch found {
        case .entry(let activity):
            let missed = activity.sequence - state.sequence - 1
            guard missed == 0 else {
                state.sequence = activity.sequence - 1
                return .event("event: gap\ndata: {\"missed\":\(missed)}\n\n")
            }
            state.sequence = activity.sequence
            let data = JSONValue.object(activity.members(withBodies: true)).text
            return .event("id: \(activity.sequence)\nevent: \(activity.name)\ndata: \(data)\n\n")
        // A wake-up without news sends a ping: so the server notices readers that have left, and proxies keep the
        // others.
        case .nothing: return isWoken && mayWait ? .event(": ping\n\n") : .nothing
        case .end: return .end
        }
    }
}
