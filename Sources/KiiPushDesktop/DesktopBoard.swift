import KiiPushCore

/// A notification that is shown: the bus's name for the service, and the service's number for the notification.
struct DesktopNotificationKey: Hashable {
    var owner: String
    var id: UInt32
}

/// What is on the screen, and what waits for a place there.
struct DesktopBoard {
    /// A notification on its way.
    struct Item {
        let pending: PendingPresentation
        /// The order in which they came.
        let number: Int
        /// How often it was taken to be shown.
        var attempts = 0

        /// Whether the later one replaces the earlier: both have one collapse ID, and are one installation's.
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

    /// - Parameter limit: how many are shown at once.
    init(limit: Int) { self.limit = max(limit, 1) }

    /// Whether something waits for which there is a place.
    private var hasNext: Bool {
        guard let first = self.waiting.first else { return false }
        return self.shown.count < self.limit || self.shown.values.contains { $0.collapses(with: first) }
    }

    /// Something is to be shown, after what waits.
    ///
    /// - Returns: whether it is the next, with nothing to wait for.
    mutating func add(_ pending: PendingPresentation) -> Bool {
        self.lastNumber += 1
        self.waiting.append(Item(pending: pending, number: self.lastNumber))
        return self.waiting.count == 1 && self.hasNext
    }

    /// Takes out what is to be shown now; `nil` when there is none, or no place for it.
    mutating func takeNext() -> Item? {
        guard self.hasNext else { return nil }
        var item = self.waiting.removeFirst()
        item.attempts += 1
        return item
    }

    /// An item is shown.
    ///
    /// - Returns: what was shown as `key` until now: the service has given the number away twice.
    mutating func show(_ item: Item, as key: DesktopNotificationKey) -> Item? {
        self.shown.updateValue(item, forKey: key)
    }

    /// What is shown as `key` is there no more.
    mutating func remove(_ key: DesktopNotificationKey) -> Item? { self.shown.removeValue(forKey: key) }

    /// What is on the screen and is replaced by what is shown as `key`.
    func replaced(by key: DesktopNotificationKey) -> [DesktopNotificationKey] {
        guard let item = self.shown[key] else { return [] }
        return self.shown.filter { $0.key != key && $0.value.collapses(with: item) }.map(\.key)
    }

    /// What was taken out is to be shown once more, before what came later.
    mutating func putBack(_ item: Item) {
        self.waiting.append(item)
        self.waiting.sort { $0.number < $1.number }
    }

    /// Takes out what waits.
    mutating func removeWaiting() -> [PendingPresentation] {
        defer { self.waiting = [] }
        return self.waiting.map(\.pending)
    }
}
