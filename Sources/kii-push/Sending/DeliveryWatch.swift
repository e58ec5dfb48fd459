import KiiPushCommandLine
import KiiPushCore

/// Waits for the results of the handlers of this state directory's profiles, for `--wait`. It reads the inboxes.
struct DeliveryWatch {
    private static let interval = Duration.milliseconds(50)

    private let session: CloudSession
    private let limit: Duration
    private let profiles: [ReceivingProfile]

    /// - Throws: ``CommandFailure`` with exit 64 if the cloud is no emulator.
    init(_ session: CloudSession, limit: Duration) throws {
        guard session.cloud.source == .emulator else { throw Self.notAnEmulator }
        (self.session, self.limit) = (session, limit)
        self.profiles = try ReceivingProfile.all(in: session.profile.location.paths.profiles)
    }

    static var notAnEmulator: CommandFailure {
        CommandFailure(
            .usage, "'--wait' needs the emulator: another cloud does not say to whom a message went",
            hint: "leave it out, and look with 'kii-push inbox list' where it is received")
    }

    func conclude(_ deliveries: [EmulatedDelivery]) async throws {
        var awaited = self.profiles.flatMap { profile in
            deliveries.filter { $0.installationID == profile.installationID }
                .map { (profile: profile, payload: $0.payload) }
        }
        guard !awaited.isEmpty else { throw Self.nobody(deliveries.count) }
        let elsewhere = deliveries.count - awaited.count
        if elsewhere > 0 { self.session.console.status("\(elsewhere) more are not of this state directory") }
        var hasFailed = false
        let end = ContinuousClock.now + self.limit
        while true {
            for index in awaited.indices.reversed() {
                guard let verdict = try awaited[index].profile.look(for: awaited[index].payload) else { continue }
                try self.session.console.show(verdict, of: awaited[index].profile)
                hasFailed = hasFailed || !verdict.isSuccess
                awaited.remove(at: index)
            }
            if awaited.isEmpty { break }
            guard .now < end else { throw self.timeout(awaited.map(\.profile)) }
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

    private func timeout(_ awaited: [ReceivingProfile]) -> CommandFailure {
        let states = awaited.map { "profile '\($0.name)' \($0.standing)" }
        return CommandFailure(
            .timedOut, "no verdict within \(self.limit.text): \(states.joined(separator: "; "))",
            hint: "is it received? See 'kii-push listen' and 'kii-push inbox list --state waiting'")
    }
}

/// A profile that receives, and what became of a message there.
struct ReceivingProfile {
    let name: String
    let installationID: String
    private let directory: String
    /// The last message that cannot be the awaited one.
    private var last: Int64
    private(set) var messageID: Int64?
    private(set) var standing = "has not received it"

    /// Remembers the last message of each inbox, so that an equal earlier message does not count.
    static func all(in profiles: String) throws -> [ReceivingProfile] {
        try (Directory.names(in: profiles) ?? []).filter { !$0.hasPrefix(".") }.sorted().compactMap { name in
            let directory = profiles + "/" + name
            guard let registration = try PushAgent.registration(in: directory) else { return nil }
            return ReceivingProfile(
                name: name, installationID: registration.installationID, directory: directory,
                last: try InboxReader.existing(in: directory)?.lastMessageID() ?? 0)
        }
    }

    /// Reads the inbox once. Returns `nil` if there is no result yet. Throws if waiting will not make the inbox
    /// readable.
    mutating func look(for payload: JSONValue) throws -> AwaitedVerdict? {
        do throws(InboxAccessError) {
            let inbox = try InboxReader(stateDirectory: self.directory)
            guard let trace = try self.trace(of: payload, in: inbox) else { return nil }
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

    private mutating func trace(
        of payload: JSONValue, in inbox: InboxReader
    ) throws(InboxAccessError) -> MessageRecord? {
        if let messageID { return try inbox.trace(of: messageID) }
        while true {
            let page = try inbox.messages(after: self.last)
            for trace in page {
                if trace.installationID == self.installationID,
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
    fileprivate func show(_ verdict: AwaitedVerdict, of profile: ReceivingProfile) throws {
        let number = profile.messageID ?? 0
        let word = self.style(verdict.word, verdict.isSuccess ? .green : .red)
        let detail = verdict.detail.map { "  \($0.terminalSafe)" } ?? ""
        try self.line("\(word) by profile \(profile.name)  #\(number)  \(verdict.elapsed.text)\(detail)")
        try self.object(
            "verdict",
            [
                "id": number, "result": verdict.word, "profile": profile.name,
                "installation": profile.installationID, "elapsed_ms": verdict.elapsed.milliseconds,
                "reason": verdict.detail,
            ])
    }
}
