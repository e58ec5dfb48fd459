/// What is on the screen, and what waits for a place there. Pure.
struct DesktopBoard<Entry: Sendable>: Sendable {
    /// A notification, as its service names it: another service counts from the beginning.
    typealias Key = DesktopNotificationKey

    private struct Item: Sendable {
        var entry: Entry
        var thread: Thread?
        /// The order in which they came.
        var number: Int
    }

    /// A conversation of an installation.
    struct Thread: Sendable, Hashable {
        var installationID: String
        var threadID: String
    }

    private let limit: Int
    private var lastNumber = 0
    private var shown: [Key: Item] = [:]
    private var waiting: [Item] = []

    /// - Parameter limit: how many are shown at once.
    init(limit: Int) { self.limit = max(limit, 1) }

    /// What is on the screen.
    var shownKeys: [Key] { Array(self.shown.keys) }

    /// Something is to be shown, after what waits.
    mutating func add(_ entry: Entry, thread: Thread?) {
        self.lastNumber += 1
        self.waiting.append(Item(entry: entry, thread: thread, number: self.lastNumber))
    }

    /// What is to be shown next, and which notification it replaces; `nil` if there is none, or no place for it.
    var next: (entry: Entry, replaced: Key?)? {
        guard let first = self.waiting.first else { return nil }
        let replaced = first.thread.flatMap { thread in self.shown.first { $0.value.thread == thread }?.key }
        return self.shown.count < self.limit || replaced != nil ? (first.entry, replaced) : nil
    }

    /// ``next`` is shown.
    ///
    /// - Returns: what it has replaced.
    mutating func nextIsShown(as key: Key, replacing replaced: Key?) -> Entry? {
        let old = replaced.flatMap { self.shown.removeValue(forKey: $0) }
        self.shown[key] = self.waiting.removeFirst()
        return old?.entry
    }

    /// ``next`` is not to be shown.
    mutating func dropNext() { self.waiting.removeFirst() }

    /// What is shown as `key` is there no more.
    mutating func remove(_ key: Key) -> Entry? { self.shown.removeValue(forKey: key)?.entry }

    /// A service has ended, or is another's: what it showed is to be shown again.
    ///
    /// - Parameter owner: the one that is there now, whose notifications stay; `nil` for none.
    /// - Returns: whether anything was shown.
    mutating func lost(allBut owner: String?) -> Bool {
        let lost = self.shown.filter { $0.key.owner != owner }
        for key in lost.keys { self.shown[key] = nil }
        self.waiting = (lost.values + self.waiting).sorted { $0.number < $1.number }
        return !lost.isEmpty
    }

    /// Takes out what waits.
    mutating func removeWaiting() -> [Entry] {
        defer { self.waiting = [] }
        return self.waiting.map(\.entry)
    }
}

/// A notification that is shown: the bus's name for the service, and the service's number for the notification.
struct DesktopNotificationKey: Sendable, Hashable {
    var owner: String
    var id: UInt32
}
