import KiiPushCore

/// A shown notification: the service's unique name on the bus and the service's number for it.
struct DesktopNotificationKey: Hashable {
    var owner: String
    var id: UInt32
}

/// The notifications on the screen, and the waiting ones.
struct DesktopBoard {
    struct Item {
        let pending: PendingPresentation
        /// The order of arrival.
        let number: Int
        var attempts = 0

        /// Whether one replaces the other: both have the same collapse ID and installation.
        func collapses(with other: Item) -> Bool {
            let (one, another) = (self.pending, other.pending)
            return one.collapseID != nil && one.collapseID == another.collapseID
                && one.request.key.installationID == another.request.key.installationID
        }
    }

    private let limit: Int
    private var lastNumber = 0
    private(set) var shown: [DesktopNotificationKey: Item] = [:]
    private(set) var waiting: [Item] = []

    /// - Parameter limit: the most notifications shown at once; at least 1.
    init(limit: Int) { self.limit = max(limit, 1) }

    /// Whether the first waiting notification has a place.
    private var hasNext: Bool {
        guard let first = self.waiting.first else { return false }
        return self.shown.count < self.limit || self.shown.values.contains { $0.collapses(with: first) }
    }

    /// Queues a notification behind the waiting ones.
    ///
    /// - Returns: whether it is next and has a place.
    mutating func add(_ pending: PendingPresentation) -> Bool {
        self.lastNumber += 1
        self.waiting.append(Item(pending: pending, number: self.lastNumber))
        return self.waiting.count == 1 && self.hasNext
    }

    /// Removes and returns the next notification to show; `nil` if there is none, or no place for it.
    mutating func takeNext() -> Item? {
        guard self.hasNext else { return nil }
        var item = self.waiting.removeFirst()
        item.attempts += 1
        return item
    }

    /// Records a shown notification.
    ///
    /// - Returns: the notification with the same key until now, if the service has used the number twice.
    mutating func show(_ item: Item, as key: DesktopNotificationKey) -> Item? {
        self.shown.updateValue(item, forKey: key)
    }

    mutating func remove(_ key: DesktopNotificationKey) -> Item? { self.shown.removeValue(forKey: key) }

    /// The notifications on the screen that `key` replaces.
    func replaced(by key: DesktopNotificationKey) -> [DesktopNotificationKey] {
        guard let item = self.shown[key] else { return [] }
        return self.shown.filter { $0.key != key && $0.value.collapses(with: item) }.map(\.key)
    }

    /// Queues a notification again, before any later one.
    mutating func putBack(_ item: Item) {
        self.waiting.append(item)
        self.waiting.sort { $0.number < $1.number }
    }

    mutating func removeWaiting() -> [PendingPresentation] {
        defer { self.waiting = [] }
        return self.waiting.map(\.pending)
    }
}
