import CMicroHTTPD
import KiiPushCore

/// The emulator's events for one reader, as server-sent events.
///
/// libmicrohttpd asks for content when the reader's socket accepts bytes. Without new events, the connection is
/// suspended.
///
/// - Source: HTML Living Standard, section 9.2.
final class EventStream: Sendable {
    /// The time limit for a reader whose socket accepts no bytes.
    private static let patienceSeconds: UInt32 = 60

    private struct State {
        var sequence: Int64
        var unsent: ArraySlice<UInt8>
        var hasWaited = false
    }

    private let state: Locked<State>
    private let log: ActivityLog
    private let pending: PendingAnswer
    private let readers: Locked<Int>

    /// - Parameters:
    ///   - sequence: the number of the last entry to leave out; `nil` for none.
    ///   - greeting: the first event.
    ///   - readers: the number of readers, which this stream decrements at its end.
    init(
        _ log: ActivityLog, for pending: PendingAnswer, after sequence: Int64?, greeting: String, readers: Locked<Int>
    ) {
        // A number above the log's last number is from an earlier process of the emulator. The stream then begins with
        // the oldest entry.
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
                // Balances `passRetained`: libmicrohttpd calls this once.
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

    /// Copies unsent bytes and returns their count. If there are none, suspends the connection until the next wake-up
    /// and returns 0. After the last entry of a closed log, returns `cmhd_end_of_stream`.
    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        self.state.withLock { state in
            var count = 0
            while count < buffer.count {
                if state.unsent.isEmpty {
                    let isWoken = state.hasWaited
                    let text: String
                    switch self.next(&state, mayWait: count == 0 && !isWoken) {
                    case .entry(let activity): text = EventStream.event(activity, &state)
                    // A wake-up without a new event sends a ping. libmicrohttpd notices a closed connection only by
                    // sending, and HTTP proxies close silent connections.
                    case .nothing where isWoken && count == 0: text = ": ping\n\n"
                    case .nothing: return count
                    case .end: return count > 0 ? count : cmhd_end_of_stream
                    }
                    state.unsent = Array(text.utf8)[...]
                }
                let part = state.unsent.prefix(buffer.count - count)
                UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyBytes(from: part)
                state.unsent.removeFirst(part.count)
                count += part.count
            }
            return count
        }
    }

    private func next(_ state: inout State, mayWait: Bool) -> ActivityLog.Finding {
        state.hasWaited = false
        return self.log.entry(after: state.sequence) {
            guard mayWait else { return nil }
            state.hasWaited = true
            self.pending.suspend()
            return { [pending = self.pending] in pending.resume() }
        }
    }

    /// The entry, or the gap before it.
    private static func event(_ activity: Activity, _ state: inout State) -> String {
        let missed = activity.sequence - state.sequence - 1
        guard missed == 0 else {
            state.sequence = activity.sequence - 1
            return "event: gap\ndata: {\"missed\":\(missed)}\n\n"
        }
        state.sequence = activity.sequence
        let data = JSONValue.object(activity.members(withBodies: true)).text
        return "id: \(activity.sequence)\nevent: \(activity.name)\ndata: \(data)\n\n"
    }
}
