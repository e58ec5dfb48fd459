/// The owner of an installation. Installations of one owner may handle each other's messages.
package struct InboxOwner: Sendable, Hashable {
    package var site: String
    package var app: String
    package var principal: String

    package init(site: String, app: String, principal: String) {
        (self.site, self.app, self.principal) = (site, app, principal)
    }

    init?(_ row: SQLiteStatement, from column: Int32) {
        guard let site = row.text(column), let app = row.text(column + 1), let principal = row.text(column + 2)
        else { return nil }
        self.init(site: site, app: app, principal: principal)
    }
}

extension Inbox {
    package func installationID(_ key: Int64) throws(InboxError) -> String? { try self.place(of: key)?.id }

    func isOwn(_ key: Int64, _ owner: InboxOwner) throws(InboxError) -> Bool {
        let place = try self.place(of: key)
        return place?.owner == owner && place?.adopter == nil
    }

    func adopted(by installation: Int64) throws(InboxError) -> [(key: Int64, id: String)] {
        try self.statements.adopted.all(installation) { (key: $0.integer(0), id: $0.text(1) ?? "") }
    }

    func sameOwner(as installation: Int64) throws(InboxError) -> [Int64] {
        try self.statements.sameOwner.all(installation) { $0.integer(0) }
    }

    func openCount(of installation: Int64) throws(InboxError) -> Int {
        try self.statements.openCount.first(installation) { Int(clamping: $0.integer(0)) } ?? 0
    }

    /// Open messages (neither done nor dead) of installations without an agent. An installation has an agent if
    /// `current` contains the installation itself, one that handles its messages, or one of the same owner.
    func stranded(besides current: Set<String>) throws(InboxError) -> [StrandedMessages] {
        let counts = try self.statements.openCounts.all { row in
            (row.integer(0), row.integer(1), row.integer(2)...max(row.integer(2), row.integer(3)))
        }
        var (keys, owners): (Set<Int64>, Set<InboxOwner>) = ([], [])
        for id in current {
            guard let key = try self.installation(id: id) else { continue }
            keys.insert(key)
            if let owner = try self.place(of: key)?.owner { owners.insert(owner) }
        }
        var stranded: [StrandedMessages] = []
        for (key, messages, numbers) in counts where !keys.contains(key) {
            guard let place = try self.place(of: key), !(place.adopter.map(keys.contains) ?? false),
                !(place.owner.map(owners.contains) ?? false)
            else { continue }
            stranded.append(.init(installationID: place.id, messages: Int(clamping: messages), numbers: numbers))
        }
        return stranded
    }

    private func place(of key: Int64) throws(InboxError) -> (id: String, adopter: Int64?, owner: InboxOwner?)? {
        try self.statements.place.first(key) { row in
            row.text(0).map { (id: $0, adopter: row.optionalInteger(1), owner: InboxOwner(row, from: 2)) }
        }
    }
}

/// Messages of an installation without an agent, as after another user signed in. `kii-push inbox adopt` lets another
/// installation handle them.
package struct StrandedMessages: Sendable, Hashable {
    package let installationID: String
    package let messages: Int
    package let numbers: ClosedRange<Int64>
}
