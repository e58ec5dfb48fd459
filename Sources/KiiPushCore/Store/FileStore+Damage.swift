/// The replacement of a damaged file.
///
/// Opening checks every row and the ``InboxMark`` beside the file. SQLite may find damage later. The store then renames
/// the file, copies every readable message into a new one, and repeats the failed operation. The new file keeps a
/// notice until an agent has reported the damage.
extension FileStore {
    /// At most one replacement in this time, since each leaves a damaged file on a failing disk.
    private static let replacementInterval: Duration = .seconds(60)
    private static let markInterval: Duration = .seconds(1)

    func open() throws(InboxError) {
        do throws(InboxError) {
            self.inbox = try Inbox(path: self.path, configuration: self.configuration)
        } catch {
            guard error.kind == .corrupt else { throw error }
            try self.replace(.init(reason: error.facts, foundAt: self.configuration.clocks.calendar))
        }
        self.writeMark()
    }

    /// If `body` finds the file damaged, replaces the file, at most once a minute, and runs `body` again.
    func use<Result>(_ body: (Inbox) throws(InboxError) -> Result) throws(InboxError) -> Result {
        try self.replaceIfDamaged()
        defer { if let due = self.markIsDue, due <= .zero { self.writeMark() } }
        do throws(InboxError) {
            return try self.attempt(body)
        } catch {
            guard error.kind == .corrupt, self.mayReplace, let inbox else { throw error }
            self.damage = .init(reason: error.facts, foundAt: self.configuration.clocks.calendar)
            self.damage?.remember(inbox, installations: self.installations)
        }
        self.inbox = nil
        try self.replaceIfDamaged()
        return try self.attempt(body)
    }

    private var now: MonotonicInstant { self.configuration.clocks.monotonic() }

    var markIsDue: Duration? {
        guard let inbox, InboxMark(of: inbox.ledger) != self.mark?.written else { return nil }
        return self.mark.map { $0.at + FileStore.markInterval - self.now } ?? .zero
    }

    func writeMark(isFlushed: Bool = false) {
        guard let inbox else { return }
        let mark = InboxMark(of: inbox.ledger)
        guard isFlushed || mark != self.mark?.written else { return }
        mark.write(besides: self.path, isFlushed: isFlushed)
        // Also set after a failed write: the next mark is another try.
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

    private func replace(_ damage: Inbox.Damage) throws(InboxError) {
        self.inbox = try Inbox.replaceDamaged(self.path, configuration: self.configuration, damage)
        self.replacedAt = self.now
        self.replacements += 1
        self.writeMark()
    }
}
