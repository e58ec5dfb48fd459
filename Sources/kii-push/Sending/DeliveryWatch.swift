import KiiPushCommandLine
import KiiPushCore

/// Waits for the results of the handlers of this state directory's profiles, for `--wait`. It reads the inboxes.
struct DeliveryWatch {
    private static let interval = Duration.milliseconds(50)

    private let session: CloudSession
    private let limit: Duration
    private let profiles: [(profile: ReceivingProfile, last: Int64)]

    /// Remembers the last message of each inbox, so that an equal earlier message does not count.
    ///
    /// - Throws: ``CommandFailure`` with exit 64 if the cloud is no emulator.
    init(_ session: CloudSession, limit: Duration) throws {
        guard session.cloud.source == .emulator else { throw Self.notAnEmulator }
        (self.session, self.limit) = (session, limit)
        self.profiles = try ReceivingProfile.all(in: session.profile.location.paths.profiles).map {
            ($0, try InboxReader.existing(in: $0.directory)?.lastMessageID() ?? 0)
        }
    }

    static var notAnEmulator: CommandFailure {
        CommandFailure(
            .usage, "'--wait' needs the emulator: another cloud does not say to whom a message went",
            hint: "leave it out, and look with 'kii-push inbox list' where it is received")
    }

    func conclude(_ deliveries: [EmulatedDelivery]) async throws {
        var awaited = self.profiles.flatMap { profile, last in
            deliveries.filter { $0.installationID == profile.installationID }.map {
                AwaitedMessage(profile: profile, payload: $0.payload, after: last)
            }
        }
        guard !awaited.isEmpty else { throw Self.nobody(deliveries.count) }
        let elsewhere = deliveries.count - awaited.count
        if elsewhere > 0 { self.session.console.status("\(elsewhere) more are not of this state directory") }
        var hasFailed = false
        let end = ContinuousClock.now + self.limit
        while true {
            for index in awaited.indices.reversed() {
                guard let verdict = try awaited[index].look() else { continue }
                try self.session.console.show(verdict, of: awaited[index])
                hasFailed = hasFailed || !verdict.isSuccess
                awaited.remove(at: index)
            }
            if awaited.isEmpty { break }
            guard .now < end else { throw self.timeout(awaited) }
            try await Task.sleep(for: min(Self.interval, end - .now))
        }
        if hasFailed { throw SilentExit.status(.failure) }
    }

    private static func nobody(_ count: Int) -> CommandFailure {
        guard count > 0 else {
            return CommandFailure(
                .failure, "it was sent, and went to no installation that receives over MQTT",
                hint: "for a topic or a bucket: kii-push subscribe")
        }
        let any = count == 1 ? "it" : "one of them"
        return CommandFailure(
            .failure,
            "it was sent to \(count.text(of: "installation")), and no profile of this state directory receives with \(any)",
            hint: "run this where the state of the receiver is (XDG_STATE_HOME)")
    }

    private func timeout(_ awaited: [AwaitedMessage]) -> CommandFailure {
        let states = awaited.map { "profile '\($0.profile.name)' \($0.standing)" }
        return CommandFailure(
            .timedOut, "no verdict within \(self.limit.text): \(states.joined(separator: "; "))",
            hint: "is it received? See 'kii-push listen' and 'kii-push inbox list --state waiting'")
    }
}

struct AwaitedMessage {
    let profile: ReceivingProfile
    private let payload: JSONValue
    private var last: Int64
    private(set) var messageID: Int64?
    private(set) var standing = "has not received it"

    init(profile: ReceivingProfile, payload: JSONValue, after last: Int64) {
        (self.profile, self.payload, self.last) = (profile, payload, last)
    }

    /// Reads the inbox once. Returns `nil` if there is no result yet. Throws if waiting will not make the inbox
    /// readable.
    mutating func look() throws -> AwaitedVerdict? {
        do throws(InboxAccessError) {
            let inbox = try InboxReader(stateDirectory: self.profile.directory)
            guard let trace = try self.trace(in: inbox) else { return nil }
            self.messageID = trace.messageID
            let verdict = AwaitedVerdict(trace)
            self.standing = "received it as #\(trace.messageID), and has not answered"
            return verdict
        } catch {
            switch error {
            case .missing: return nil
            case .unusable:
                self.standing = "has an inbox that cannot be read now"
                return nil
            default: throw error
            }
        }
    }

    private mutating func trace(in inbox: InboxReader) throws(InboxAccessError) -> MessageRecord? {
        if let messageID { return try inbox.trace(of: messageID) }
        while true {
            let page = try inbox.messages(after: self.last)
            for trace in page {
                if trace.installationID == self.profile.installationID,
                    (try? JSONValue(parsing: trace.payload)) == payload
                {
                    return trace
                }
                self.last = trace.messageID
            }
            if page.isEmpty { return nil }
        }
    }
}

struct AwaitedVerdict {
    let word: String
    let isSuccess: Bool
    let detail: String?
    let elapsed: Duration
}

extension AwaitedVerdict {
    init?(_ trace: MessageRecord) {
        for event in trace.events {
            let milliseconds = event.at.millisecondsSinceEpoch - trace.receivedAt.millisecondsSinceEpoch
            let elapsed = Duration.milliseconds(max(0, milliseconds))
            switch event.kind {
            case .done(let result, _, _):
                self.init(word: result.word, isSuccess: true, detail: nil, elapsed: elapsed)
            case .failed(_, let failure, let pause):
                let detail = (failure == .failed ? "" : "\(failure); ") + "tried again after \(pause.text)"
                self.init(word: "failed", isSuccess: false, detail: detail, elapsed: elapsed)
            case .dead(let reason, _):
                self.init(word: "dead", isSuccess: false, detail: reason.description, elapsed: elapsed)
            default: continue
            }
            return
        }
        return nil
    }
}

extension Console {
    fileprivate func show(_ verdict: AwaitedVerdict, of message: AwaitedMessage) throws {
        let number = message.messageID ?? 0
        let word = self.style(verdict.word, verdict.isSuccess ? .green : .red)
        let detail = verdict.detail.map { "  \($0.terminalSafe)" } ?? ""
        try self.line("\(word) by profile \(message.profile.name)  #\(number)  \(verdict.elapsed.text)\(detail)")
        try self.object(
            "verdict",
            [
                "id": number, "result": verdict.word, "profile": message.profile.name,
                "installation": message.profile.installationID, "elapsed_ms": verdict.elapsed.milliseconds,
                "reason": verdict.detail,
            ])
    }
}
