/// What replaces the file when it turns out to be damaged.
/// Damage is found at opening, when every row is looked at and the file is held against its mark, or whenever SQLite
/// meets it later. Then the file is moved aside, a new one takes its place with every message in it that can still be
/// read, and what failed is done again. The new file keeps a notice of that until an agent has told it.
extension FileStore {
    struct Damage {
        /// What is wrong.
        var reason: String
        /// The replacement is named after this, however often it has to be tried.
        var foundAt: Timestamp
        /// `nil` of a file that was found damaged when it was to be opened.
        var remembered: Inbox.Remembered?
    }

    /// A disk that damages one file after the other must not be filled with them.
    private static let replacementInterval: Duration = .seconds(60)
    /// How late the mark may be.
    private static let markInterval: Duration = .seconds(1)

    /// Opens the file, or replaces it if it is damaged, or if messages are gone with it.
    func open() throws(InboxError) {
        do throws(InboxError) {
            self.inbox = try Inbox(path: self.path, configuration: self.configuration)
        } catch {
            guard error.kind == .corrupt else { throw error }
            try self.replace(Damage(reason: error.facts, foundAt: self.configuration.clocks.calendar))
        }
        self.writeMark()
    }

    /// Runs `body`, and runs it once more with the new file if it finds the file to be damaged.
    func use<Result>(_ body: (Inbox) throws(InboxError) -> Result) throws(InboxError) -> Result {
        try self.replaceIfDamaged()
        defer { if let due = self.markIsDue, due <= .zero { self.writeMark() } }
        do throws(InboxError) {
            return try self.attempt(body)
        } catch {
            guard error.kind == .corrupt, self.mayReplace, let inbox else { throw error }
            self.damage = Damage(
                reason: error.facts, foundAt: self.configuration.clocks.calendar,
                remembered: inbox.remembered(installations: self.installations))
        }
        // Closes it: a file must not be moved from under its connection.
        self.inbox = nil
        try self.replaceIfDamaged()
        return try self.attempt(body)
    }

    private var now: MonotonicInstant { self.configuration.clocks.monotonic() }

    /// How long until the mark has to be written; `nil` when it says what the file says.
    var markIsDue: Duration? {
        guard let inbox, InboxMark(of: inbox.ledger) != self.mark?.written else { return nil }
        return self.mark.map { $0.at + FileStore.markInterval - self.now } ?? .zero
    }

    func writeMark(isFlushed: Bool = false) {
        guard let inbox else { return }
        let mark = InboxMark(of: inbox.ledger)
        guard isFlushed || mark != self.mark?.written else { return }
        mark.write(besides: self.path, isFlushed: isFlushed)
        // Also where it could not be written: that is tried again with the next one.
        self.mark = (mark, self.now)
    }

    private func attempt<Result>(_ body: (Inbox) throws(InboxError) -> Result) throws(InboxError) -> Result {
        guard let inbox else { throw InboxError(.other, step: "using an inbox that is closed") }
        return try body(inbox)
    }

    private var mayReplace: Bool { self.replacedAt.map { self.now - $0 > FileStore.replacementInterval } ?? true }

    private func replaceIfDamaged() throws(InboxError) {
        guard let damage else { return }
        try self.replace(damage)
        self.damage = nil
    }

    private func replace(_ damage: Damage) throws(InboxError) {
        self.inbox = try Inbox.replaceDamaged(
            self.path, configuration: self.configuration, remembered: damage.remembered, reason: damage.reason,
            now: damage.foundAt)
        self.replacedAt = self.now
        self.replacements += 1
        self.writeMark()
    }
}
