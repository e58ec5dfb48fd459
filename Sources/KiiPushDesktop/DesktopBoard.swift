import KiiPushCore

/// A shown notification: the service's unique bus name, and the number that the service gave the notification.
struct DesktopNotificationKey: Hashable {
    var owner: String
    var id: UInt32
}

struct DesktopBoard {
    struct Item {
        let pending: PendingPresentation
        let number: Int
        var attempts = 0

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

    init(limit: Int) { self.limit = max(limit, 1) }

    /// A notification that replaces another always fits on the screen.
    private var hasNext: Bool {
        guard let first = self.waiting.first else { return false }
        return self.shown.count < self.limit || self.shown.values.contains { $0.collapses(with: first) }
    }

    mutating func add(_ pending: PendingPresentation) -> Bool {
        self.lastNumber += 1
        self.waiting.append(Item(pending: pending, number: self.lastNumber))
        return self.waiting.count == 1 && self.hasNext
    }

    mutating func takeNext() -> Item? {
        guard self.hasNext else { return nil }
        var item = self.waiting.removeFirst()
        item.attempts += 1
        return item
    }

    mutating func show(_ item: Item, as key: DesktopNotificationKey) -> Item? {
        self.shown.updateValue(item, forKey: key)
    }

    mutating func remove(_ key: DesktopNotificationKey) -> Item? { self.shown.removeValue(forKey: key) }

    func replaced(by key: DesktopNotificationKey) -> [DesktopNotificationKey] {
        guard let item = self.shown[key] else { return [] }
        return self.shown.filter { $0.key != key && $0.value.collapses(with: item) }.map(\.key)
    }

    mutating func putBack(_ item: Item) {
        self.waiting.append(item)
        self.waiting.sort { $0.number < $1.number }
    }

    mutating func removeWaiting() -> [PendingPresentation] {
        defer { self.waiting = [] }
        return self.waiting.map(\.pending)
    }
}
