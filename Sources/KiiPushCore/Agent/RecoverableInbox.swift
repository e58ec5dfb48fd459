/// A process's inbox, which has its file replaced when that turns out to be damaged. Lives on the loop thread.
///
/// Damage is found whenever SQLite meets it, at opening or at any later time. Then the file is moved aside, a new one
/// takes its place with every message in it that can still be read, and what failed is done again.
final class RecoverableInbox {
    private let path: String
    private let configuration: Inbox.Configuration
    /// Is told of a file that was replaced after the opening.
    var report: (PushEvent) -> Void = { _ in }
    /// That the file was replaced at the opening.
    private(set) var openingEvent: PushEvent?
    /// `nil` while a damaged file is to be replaced.
    private var inbox: Inbox?
    private var damage: Damage?
    private var installations: [Int64: String] = [:]
    private var replacedAt: MonotonicInstant?
    /// How often the file was replaced.
    private(set) var replacements = 0

    private struct Damage {
        var error: InboxError
        /// The replacement is named after this, however often it has to be tried.
        var foundAt = Timestamp.now()
        /// `nil` of a file that was found damaged when it was to be opened.
        var remembered: Inbox.Remembered?
    }

    /// A disk that damages one file after the other must not be filled with them.
    private static let replacementInterval: Duration = .seconds(60)

    /// Opens the file, or replaces it if it is damaged.
    ///
    /// - Throws: ``InboxError``.
    init(path: String, configuration: Inbox.Configuration) throws(InboxError) {
        self.path = path
        self.configuration = configuration
        do throws(InboxError) {
            self.inbox = try Inbox(path: path, configuration: configuration)
        } catch {
            guard error.kind == .corrupt else { throw error }
            self.openingEvent = try self.replace(Damage(error: error))
        }
    }

    /// How many rows stand where, as of the last commit.
    var counts: InboxCounts { self.inbox?.counts ?? self.damage?.remembered?.counts ?? InboxCounts() }

    /// What has become of every message, as of the last commit.
    var messageLedger: MessageLedger {
        self.inbox?.messageLedger ?? self.damage?.remembered?.messageLedger ?? MessageLedger()
    }

    /// The key of an installation, made if it is new.
    func installation(id: String) throws(InboxError) -> Int64 {
        let key = try self.use { inbox throws(InboxError) in
            if let key = try inbox.installation(id: id) { return key }
            return try inbox.transaction { transaction throws(InboxError) in try transaction.installation(id: id) }
        }
        self.installations[key] = id
        return key
    }

    /// Runs `body`, and runs it once more with the new file if it finds the file to be damaged.
    func use<Result>(_ body: (Inbox) throws(InboxError) -> Result) throws(InboxError) -> Result {
        try self.replaceIfDamaged()
        switch self.attempt(body) {
        case .success(let result): return result
        case .failure(let error):
            guard error.kind == .corrupt, self.mayReplace, let inbox else { throw error }
            self.damage = Damage(error: error, remembered: inbox.remembered(installations: self.installations))
        }
        // Closes it: a file must not be moved from under its connection.
        self.inbox = nil
        try self.replaceIfDamaged()
        return try self.attempt(body).get()
    }

    private func attempt<Result>(_ body: (Inbox) throws(InboxError) -> Result) -> Swift.Result<Result, InboxError> {
        guard let inbox else { return .failure(InboxError(.other, step: "using an inbox that is closed")) }
        do throws(InboxError) {
            return .success(try body(inbox))
        } catch {
            return .failure(error)
        }
    }

    private var mayReplace: Bool {
        self.replacedAt.map { MonotonicInstant.now() - $0 > RecoverableInbox.replacementInterval } ?? true
    }

    private func replaceIfDamaged() throws(InboxError) {
        guard let damage else { return }
        let event = try self.replace(damage)
        self.damage = nil
        self.report(event)
    }

    private func replace(_ damage: Damage) throws(InboxError) -> PushEvent {
        let replacement = try Inbox.replaceDamaged(
            self.path, configuration: self.configuration, remembered: damage.remembered, now: damage.foundAt)
        self.inbox = replacement.inbox
        self.replacedAt = .now()
        self.replacements += 1
        return .inboxMovedAside(
            path: replacement.keptPath, reason: damage.error.facts, takenOver: replacement.takenOver,
            lost: replacement.lost)
    }
}
