/// Messages that wait in the store for the next attachment of their installation.
struct SetAside: Sendable {
    var sequences: Set<Int64> = []
    /// Every row that waits, up to this one, was set aside. Reading the backlog begins after it.
    var through: Int64 = 0
}

/// What of one installation is in the store and not in memory.
struct DeliveryIntake: Sendable {
    enum Phase: Sendable {
        /// With strict order: messages that wait for their retry are being read. Exits: `recovering`, when there are no
        /// more.
        case pausing(after: Int64)
        /// Rows in hand of an earlier process are being read. Exits: `open`, when there are no more.
        case recovering(after: Int64)
        /// Everything that was in hand is in memory.
        case open
    }

    /// Tells it from the ones before it of the same installation, whose loads may still be under way.
    let attachment: Int
    var phase: Phase
    private let isStrictlyOrdered: Bool
    /// Rows wait in the store. Whatever is received goes behind them, so it waits there too.
    var hasBacklog = false
    /// A message was withheld since the load was asked for, so that load may not have seen it.
    var hasWithheldSince = false
    /// Retries in the store are due, or may be.
    var hasDueRetries = false
    /// More became due since the load was asked for, so that load may not have seen them.
    var hasDueRetriesSince = false
    var isLoading = false
    /// It stands in the queue of those that want a page.
    var isQueued = false
    /// When the store is to be looked into for retries, if that is planned.
    var nextLook: MonotonicInstant?
    /// Some sources keep to a share of memory, and the rest of what waits is read past them.
    var scan: BacklogScan?
    /// Messages that handlers left to a later run.
    var setAside = SetAside()
    /// Finished, or given back, while a load was under way, which may bring them as they were before.
    var outdatedWhileLoading: Set<Int64> = []
    /// Left to the store for their next attempt while a load was under way, and after how many: a page that has fewer was
    /// read before.
    var failedWhileLoading: [Int64: Int] = [:]

    init(attachment: Int, isStrictlyOrdered: Bool) {
        self.attachment = attachment
        self.isStrictlyOrdered = isStrictlyOrdered
        self.phase = isStrictlyOrdered ? .pausing(after: 0) : .recovering(after: 0)
    }

    /// Whether what is received may go straight to memory.
    var isStraight: Bool { self.isOpen && !self.hasBacklog && self.scan == nil }

    var isOpen: Bool { if case .open = self.phase { true } else { false } }

    /// What is to be read next. While the backlog is scanned, sources come in between, and there may be nothing.
    var wanted: DeliveryLoad.Kind? {
        guard !self.isLoading else { return nil }
        switch self.phase {
        case .pausing(let sequence): return .paused(after: sequence)
        case .recovering(let sequence): return .suspects(after: sequence)
        case .open:
            if self.hasDueRetries { return .retries }
            return self.scan.map { .scan(after: $0.position) } ?? (self.hasBacklog ? .waiting : nil)
        }
    }

    mutating func loaded(_ kind: DeliveryLoad.Kind, _ page: DeliveryPage) {
        self.isLoading = false
        let hadWithheld = self.hasWithheldSince
        self.hasWithheldSince = false
        let hadDue = self.hasDueRetriesSince
        self.hasDueRetriesSince = false
        self.outdatedWhileLoading = []
        self.failedWhileLoading = [:]
        guard !page.isFailure else { return }
        switch kind {
        case .paused(let after):
            let last = page.messages.last?.sequence ?? after
            self.phase = page.isComplete ? .recovering(after: 0) : .pausing(after: last)
        case .suspects(let after):
            self.phase = .recovering(after: page.messages.last?.sequence ?? after)
            guard page.isComplete else { return }
            self.phase = .open
            self.hasBacklog = true
            // With strict order every retry is in memory already.
            self.hasDueRetries = !self.isStrictlyOrdered
        case .scan where self.scan?.refilled != nil: break
        case .waiting, .scan: self.hasBacklog = hadWithheld || !page.isComplete
        case .retries: self.hasDueRetries = hadDue || !page.isComplete
        }
    }
}
