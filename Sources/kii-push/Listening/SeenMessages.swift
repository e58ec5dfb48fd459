/// Which of the latest messages were shown.
struct SeenMessages {
    /// Everything up to this one counts as shown.
    private(set) var horizon: Int64
    private var told: Set<Int64> = []
    private var listed: Set<Int64> = []

    /// As many are told apart: more than are in hand at once, or come while a process begins anew.
    private static let most = 10_000

    init(after horizon: Int64) { self.horizon = horizon }

    func contains(_ id: Int64) -> Bool { id <= self.horizon || self.told.contains(id) || self.listed.contains(id) }

    /// Whether it was listed from the inbox, and not told of since.
    func wasListed(_ id: Int64) -> Bool { self.listed.contains(id) }

    mutating func insert(_ id: Int64) {
        self.listed.remove(id)
        guard id > self.horizon else { return }
        self.told.insert(id)
        self.shorten()
    }

    mutating func insertListed(_ id: Int64) {
        self.told.remove(id)
        self.listed.insert(id)
        self.shorten()
    }

    private mutating func shorten() {
        let count = self.told.count + self.listed.count
        guard count > Self.most else { return }
        let oldest = (Array(self.told) + Array(self.listed)).sorted()
        self.horizon = max(self.horizon, oldest[count / 2])
        self.told = self.told.filter { $0 > self.horizon }
        self.listed = self.listed.filter { $0 > self.horizon }
    }
}
