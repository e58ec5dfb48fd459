package import KiiPushCore

/// A message to the started program: one line of JSON.
///
/// ```json
/// {"id":7,"attempt":1,"deadlineMs":29999,"userOpened":false,"installation":"i1","receivedAt":1700000000000,"payload":"{…}"}
/// ```
///
/// The payload is a string that contains JSON. As a nested object, it could exceed the parser's depth limit, and would
/// lose the spelling of numbers and repeated keys.
package struct ActivationMessage: Sendable, Hashable {
    package var id: Int64
    package var attempt: Int
    package var timeRemaining: Duration
    package var userAction: UserAction?
    package var installationID: String
    package var receivedAt: Timestamp
    package var payload: [UInt8]
    /// The agent's badge number when the message is sent. 0 means no badge; `nil` means unknown.
    package var badge: Int?
}

extension ActivationMessage {
    package var line: [UInt8] {
        var members: [(String, JSONValue)] = [
            ("id", JSONValue(self.id)),
            ("attempt", JSONValue(self.attempt)),
            ("deadlineMs", JSONValue(max(0, self.timeRemaining.wholeNanoseconds / 1_000_000))),
            ("userOpened", JSONValue(self.userAction?.opensProgram == true)),
        ]
        if let identifier = self.userAction?.identifier { members.append(("action", JSONValue(identifier))) }
        members += [
            ("installation", JSONValue(self.installationID)),
            ("receivedAt", JSONValue(self.receivedAt.millisecondsSinceEpoch)),
        ]
        if let badge { members.append(("badge", JSONValue(badge))) }
        members.append(("payload", JSONValue(String(decoding: self.payload, as: UTF8.self))))
        return JSONValue.object(members).serialized() + [UInt8(ascii: "\n")]
    }

    package init(line: [UInt8]) throws(JSONMemberError) { try self.init(JSONDocument(line: line)) }

    fileprivate init(_ line: JSONDocument) throws(JSONMemberError) {
        self.id = try line.required("id").integer()
        self.attempt = try line.required("attempt").integer()
        guard self.attempt >= 1 else { throw line.failure("must be 1 or more", at: "attempt") }
        let milliseconds: Int64 = try line.required("deadlineMs").integer()
        self.timeRemaining = .milliseconds(min(max(milliseconds, 0), 3_600_000))
        let isUserOpened = try line.required("userOpened").flag()
        switch line.value["action"]?.string {
        case let identifier? where !identifier.isEmpty:
            self.userAction = isUserOpened ? .custom(identifier) : .background(identifier)
        default: self.userAction = isUserOpened ? .open : nil
        }
        self.installationID = try line.required("installation").text()
        self.receivedAt = Timestamp(millisecondsSinceEpoch: try line.required("receivedAt").integer())
        self.payload = Array(try line.required("payload").text().utf8)
        self.badge = line.value["badge"]?.int64.flatMap { Int(exactly: $0) }
    }
}

/// A line from the activator to the program.
package enum ActivationLine: Sendable, Hashable {
    case message(ActivationMessage)
    /// The new badge number: `{"badge":7}`. 0 means no badge. Sent only to programs that request it in `ready`.
    case badge(Int)

    package var line: [UInt8] {
        switch self {
        case .message(let message): message.line
        case .badge(let number): ActivationAnswer.badge(number).line
        }
    }

    package init(line: [UInt8]) throws(JSONMemberError) {
        let line = try JSONDocument(line: line)
        self = if let badge = try line.badgeAlone { .badge(badge) } else { .message(try ActivationMessage(line)) }
    }
}

/// A line from the program to the activator.
package enum ActivationAnswer: Sendable, Hashable {
    /// The program has read its first message and accepts this many messages at once: `{"ready":4}`. Without this line
    /// the activator sends each message only after the answer to the previous message. With `"badge":true` the
    /// activator also sends the badge number when it changes.
    case ready(Int, wantsBadge: Bool = false)
    /// `{"id":7,"result":"newData"}`. Other results are `noData`, `failed`, and `reject` with a `reason`.
    case verdict(id: Int64, ActivationVerdict)
    /// The time for the message is over, but the program may still answer: `{"id":7,"result":"late"}`. A success can
    /// still count until the next attempt at this message begins or the process ends.
    case late(id: Int64)
    /// The program sets the badge number: `{"badge":3}`. 0 means no badge.
    case badge(Int)
    /// The program's lifecycle state: `{"state":"active"}`, `inactive` or `background`. A program that reports no state
    /// counts as in the background.
    case state(LifecycleState)

    package var line: [UInt8] {
        let value: JSONValue =
            switch self {
            case .ready(let count, let wantsBadge):
                .object([("ready", JSONValue(count))] + (wantsBadge ? [("badge", true)] : []))
            case .verdict(let id, .result(let result)):
                .object([("id", JSONValue(id)), ("result", JSONValue(result.activationName))])
            case .verdict(let id, .rejected(let reason)):
                .object([("id", JSONValue(id)), ("result", "reject"), ("reason", JSONValue(reason))])
            case .late(let id): .object([("id", JSONValue(id)), ("result", "late")])
            case .badge(let number): .object([("badge", JSONValue(number))])
            case .state(let state): .object([("state", JSONValue(state.rawValue))])
            }
        return value.serialized() + [UInt8(ascii: "\n")]
    }

    package init(line: [UInt8]) throws(JSONMemberError) {
        let line = try JSONDocument(line: line)
        if let ready = line["ready"] {
            let count: Int = try ready.integer()
            guard count >= 1 else { throw ready.failure("must be 1 or more") }
            self = .ready(min(count, 10_000), wantsBadge: line.value["badge"]?.bool == true)
        } else if let badge = try line.badgeAlone {
            self = .badge(badge)
        } else if let state = line["state"] {
            self = .state(
                try state.read("active, inactive or background") { value in
                    value.string.flatMap { LifecycleState(rawValue: $0) }.flatMap { $0 == .notRunning ? nil : $0 }
                })
        } else {
            let id: Int64 = try line.required("id").integer()
            let name = try line.required("result").text()
            if name == "reject" {
                self = .verdict(id: id, .rejected(line.value["reason"]?.string ?? "rejected without a reason"))
            } else if name == "late" {
                self = .late(id: id)
            } else if let result = FetchResult.allCases.first(where: { $0.activationName == name }) {
                self = .verdict(id: id, .result(result))
            } else {
                throw line.failure("must be newData, noData, failed, late or reject", at: "result")
            }
        }
    }
}

package enum ActivationVerdict: Sendable, Hashable {
    case result(FetchResult)
    case rejected(String)

    var isSuccess: Bool { self == .result(.newData) || self == .result(.noData) }

    /// The verdict of exit status 0, 10, 65 or 75 on the message that started the program. `nil` for any other ending:
    /// the attempt fails. 65 is `EX_DATAERR` of <sysexits.h>, 75 is `EX_TEMPFAIL`.
    package init?(_ ending: ChildProcess.Ending) {
        switch ending {
        case .exited(0): self = .result(.newData)
        case .exited(10): self = .result(.noData)
        case .exited(65): self = .rejected("the program refused it (exit status 65)")
        case .exited(75): self = .result(.failed)
        case .exited, .signalled, .unknown: return nil
        }
    }
}

extension JSONDocument {
    fileprivate init(line: [UInt8]) throws(JSONMemberError) {
        try self.init(parsing: line, maximumBytes: LineBuffer.maximumBytes, in: ())
    }

    fileprivate var badgeAlone: Int? {
        get throws(JSONMemberError) { try self["id"] == nil ? self["badge"]?.integer() : nil }
    }
}

extension FetchResult {
    fileprivate var activationName: String {
        switch self {
        case .newData: "newData"
        case .noData: "noData"
        case .failed: "failed"
        }
    }
}
