/// What is on the screen, and what waits for a place there.
struct DesktopBoard {
    /// A notification on its way.
    struct Item {
        let pending: PendingPresentation
        /// The order in which they came.
        let number: Int
        /// How often it was taken to be shown.
        var attempts = 0

        /// Whether both are of one conversation of one installation, so that the later one replaces the earlier.
        func isSameThread(as other: Item) -> Bool {
            let (one, another) = (self.pending.request, other.pending.request)
            return one.threadID != nil && one.threadID == another.threadID
                && one.id.installationID == another.id.installationID
        }
    }

    /// So often one is shown by services that end. It may be what ends them.
    static let attempts = 3

    private let limit: Int
    private var lastNumber = 0
    private var shown: [DesktopNotificationKey: Item] = [:]
    private var waiting: [Item] = []

    /// - Parameter limit: how many are shown at once.
    init(limit: Int) { self.limit = max(limit, 1) }

    /// What is on the screen.
    var shownKeys: [DesktopNotificationKey] { Array(self.shown.keys) }

    /// Whether something waits for which there is a place.
    var hasNext: Bool {
        guard let first = self.waiting.first else { return false }
        return self.shown.count < self.limit || self.shown.values.contains { $0.isSameThread(as: first) }
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
    mutating func show(_ item: Item, as key: DesktopNotificationKey) -> PendingPresentation? {
        self.shown.updateValue(item, forKey: key)?.pending
    }

    /// What is on the screen and is replaced by what is shown as `key`.
    func replaced(by key: DesktopNotificationKey) -> [DesktopNotificationKey] {
        guard let item = self.shown[key] else { return [] }
        return self.shown.filter { $0.key != key && $0.value.isSameThread(as: item) }.map(\.key)
    }

    /// What is shown as `key` is there no more.
    mutating func remove(_ key: DesktopNotificationKey) -> PendingPresentation? {
        self.shown.removeValue(forKey: key)?.pending
    }

    /// What a service showed is to be shown again: it has ended. `nil`: all services have.
    ///
    /// - Returns: what was lost; and of that, what is not to be shown once more.
    mutating func lost(with owner: String?) -> (count: Int, givenUp: [PendingPresentation]) {
        let lost = self.shown.filter { owner == nil || $0.key.owner == owner }
        for key in lost.keys { self.shown[key] = nil }
        return (lost.count, lost.values.compactMap { self.putBack($0) })
    }

    /// What was taken out could not be shown for now.
    ///
    /// - Returns: it, if it is not to be shown once more.
    mutating func putBack(_ item: Item) -> PendingPresentation? {
        guard item.attempts < DesktopBoard.attempts else { return item.pending }
        let place = self.waiting.firstIndex { $0.number > item.number } ?? self.waiting.endIndex
        self.waiting.insert(item, at: place)
        return nil
    }

    /// What waits.
    var waitingPresentations: [PendingPresentation] { self.waiting.map(\.pending) }

    /// Takes out what waits.
    mutating func removeWaiting() -> [PendingPresentation] {
        defer { self.waiting = [] }
        return self.waitingPresentations
    }
}

/// A notification that is shown: the bus's name for the service, and the service's number for the notification.
struct DesktopNotificationKey: Sendable, Hashable {
    var owner: String
    var id: UInt32
}
