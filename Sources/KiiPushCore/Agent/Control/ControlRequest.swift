/// A request to the receiving process: a line with one JSON object. The process answers each request except ``watch``
/// with a line, in any order.
package enum ControlRequest: Hashable, Sendable {
    /// Asks for the state of each connection, and then for later events (``ControlReply/event(_:)``).
    case watch
    case decide(PushRuntime.Decision, Int64)
    case adopt(formerID: String, installationID: String)

    package var messageID: Int64? { if case .decide(_, let id) = self { id } else { nil } }

    package init?(line: [UInt8]) {
        guard let value = try? JSONValue(parsing: line), value["v"]?.int64 == 1 else { return nil }
        switch value["ask"]?.string {
        case "watch": self = .watch
        case "adopt":
            guard let formerID = value["from"]?.string, let installationID = value["to"]?.string else { return nil }
            self = .adopt(formerID: formerID, installationID: installationID)
        case let word?:
            guard let decision = PushRuntime.Decision(rawValue: word), let id = value["id"]?.int64 else { return nil }
            self = .decide(decision, id)
        case nil: return nil
        }
    }

    package var line: [UInt8] {
        switch self {
        case .watch: JSONValue.line(["v": 1, "ask": "watch"])
        case .decide(let decision, let id): JSONValue.line(["v": 1, "ask": decision.rawValue, "id": id])
        case .adopt(let formerID, let installationID):
            JSONValue.line(["v": 1, "ask": "adopt", "from": formerID, "to": installationID])
        }
    }
}

package enum ControlReply: Sendable {
    case event(PushEvent)
    case unknown(String)
    case missed(Int)
    case decided(id: Int64, MessageDecision)
    /// The number of messages adopted from installation `formerID`; `nil` if the process could not adopt them.
    case adopted(formerID: String, Int?)
    case failed(id: Int64?, reason: String)

    package init?(line: [UInt8]) {
        guard let value = try? JSONValue(parsing: line) else { return nil }
        if let event = value["event"] {
            let words = [event["name"], event["kind"]].compactMap { $0?.string }
            self =
                PushEvent(controlValue: event).map { .event($0) }
                ?? .unknown(words.isEmpty ? "message" : words.joined(separator: " "))
        } else if let count = value["missed"]?.int64 {
            self = .missed(Int(clamping: count))
        } else if let milliseconds = value["running_ms"]?.int64, let id = value["id"]?.int64 {
            self = .decided(id: id, .running(for: .milliseconds(milliseconds)))
        } else if let isChanged = value["changed"]?.bool, let id = value["id"]?.int64 {
            self = .decided(id: id, isChanged ? .carriedOut : .notFound)
        } else if let formerID = value["from"]?.string {
            self = .adopted(formerID: formerID, value["adopted"]?.int64.map { Int(clamping: $0) })
        } else if let reason = value["error"]?.string {
            self = .failed(id: value["id"]?.int64, reason: reason)
        } else {
            return nil
        }
    }

    package var line: [UInt8]? {
        switch self {
        case .event(let event): event.controlValue.map { JSONValue.line(["event": $0]) }
        case .unknown: nil
        case .missed(let count): JSONValue.line(["missed": count])
        case .decided(let id, .running(let duration)):
            JSONValue.line(["id": id, "changed": false, "running_ms": duration.milliseconds])
        case .decided(let id, let decision): JSONValue.line(["id": id, "changed": decision == .carriedOut])
        case .adopted(let formerID, let count):
            JSONValue.line(["from": formerID, "adopted": count?.json ?? JSONValue.null])
        case .failed(let id, let reason): JSONValue.line(["id": id, "error": reason])
        }
    }
}

extension JSONValue {
    fileprivate static func line(_ members: KeyValuePairs<String, (any JSONConvertible)?>) -> [UInt8] {
        Array((JSONValue.object(present: members).text + "\n").utf8)
    }
}

package struct ControlLines {
    static let maximumBytes = 65_536
    private var pending: [UInt8] = []

    package init() {}

    /// Returns the lines that `bytes` completes; `nil` if the unfinished line exceeds ``maximumBytes``.
    package mutating func take(_ bytes: some Collection<UInt8>) -> [[UInt8]]? {
        self.pending += bytes
        var lines: [[UInt8]] = []
        while let end = self.pending.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(Array(self.pending[..<end]))
            self.pending.removeSubrange(...end)
        }
        return self.pending.count <= ControlLines.maximumBytes ? lines : nil
    }
}
