package import KiiPushCore

package struct CloudState: Sendable {
    fileprivate(set) var users: [String: UserRecord] = [:]
    fileprivate(set) var things: [String: ThingRecord] = [:]
    fileprivate(set) var groups: [String: GroupRecord] = [:]
    fileprivate(set) var tokens: [String: TokenRecord] = [:]
    fileprivate(set) var installations: [String: InstallationRecord] = [:]
    fileprivate(set) var topics: [String: TopicRecord] = [:]
    fileprivate(set) var buckets: [String: BucketRecord] = [:]
    fileprivate(set) var subscriptions: [String: SubscriptionRecord] = [:]
    fileprivate(set) var objects: [String: ObjectRecord] = [:]
    fileprivate(set) var bodies: [String: ObjectBodyRecord] = [:]
    fileprivate(set) var commands: [String: CommandRecord] = [:]

    // Indexes for the questions of each registration, connection and message. Other questions look at all records.
    /// The user ID for each key `{field} {value}`, with the fields of ``UserRecord/names``.
    fileprivate var userNames: [String: String] = [:]
    fileprivate var vendorThingIDs: [String: String] = [:]
    fileprivate var installationsOfOwner: [Principal: Set<String>] = [:]
    fileprivate var installationsByUsername: [String: String] = [:]
    /// The installation ID for each key `{deviceType}:{registrationID}`.
    fileprivate var registrations: [String: String] = [:]
    fileprivate var subscribers: [SubscriptionTarget: Set<Principal>] = [:]

    private var changes: [StateChange] = []

    package init() {}

    mutating func takeChanges() -> [StateChange] {
        defer { self.changes = [] }
        return self.changes
    }

    mutating func save<Record: StoredRecord>(_ record: Record) {
        if let former = self[keyPath: Record.records][record.key] { former.index(in: &self, isThere: false) }
        self[keyPath: Record.records][record.key] = record
        record.index(in: &self, isThere: true)
        self.changes.append(.save(table: Record.table, key: record.key, value: record.json))
    }

    mutating func remove<Record: StoredRecord>(_ record: Record) {
        record.removeDependents(from: &self)
        record.index(in: &self, isThere: false)
        self[keyPath: Record.records][record.key] = nil
        self.changes.append(.remove(table: Record.table, key: record.key))
    }

    mutating func removeAll() {
        self = CloudState()
        self.changes = [.removeAll]
    }

    private static let kinds: [any StoredRecord.Type] = [
        UserRecord.self, ThingRecord.self, GroupRecord.self, TokenRecord.self, InstallationRecord.self,
        TopicRecord.self, BucketRecord.self, SubscriptionRecord.self, ObjectRecord.self, ObjectBodyRecord.self,
        CommandRecord.self,
    ]

    package mutating func load(table: String, value: JSONValue) -> Bool {
        guard let kind = CloudState.kinds.first(where: { $0.table == table }), let record = kind.init(json: value)
        else { return false }
        self.save(record)
        self.changes = []
        return true
    }
}

// MARK: - Finding

extension CloudState {
    func user(field: String, value: String) -> UserRecord? {
        self.userNames["\(field) \(value)"].flatMap { self.users[$0] }
    }

    func thing(vendorThingID: String) -> ThingRecord? { self.vendorThingIDs[vendorThingID].flatMap { self.things[$0] } }

    func token(refreshedBy refreshToken: String) -> TokenRecord? {
        self.tokens.values.first { $0.refreshToken?.reveal() == refreshToken }
    }

    mutating func removeTokens(of caller: Caller) { self.remove { (token: TokenRecord) in token.caller == caller } }

    func installation(deviceType: InstallationRecord.DeviceType, registrationID: String) -> InstallationRecord? {
        self.registrations["\(deviceType.rawValue):\(registrationID)"].flatMap { self.installations[$0] }
    }

    func installation(username: String) -> InstallationRecord? {
        self.installationsByUsername[username].flatMap { self.installations[$0] }
    }

    func installations(of owner: Principal) -> [InstallationRecord] {
        (self.installationsOfOwner[owner] ?? []).sorted().compactMap { self.installations[$0] }
    }

    func topics(in scope: Scope) -> [TopicRecord] {
        self.topics.values.filter { $0.topic.scope == scope }.sorted { $0.topic.id < $1.topic.id }
    }

    func subscription(of subscriber: Principal, to target: SubscriptionTarget) -> SubscriptionRecord? {
        self.subscriptions[SubscriptionRecord(target: target, subscriber: subscriber).key]
    }

    func subscribers(of target: SubscriptionTarget) -> [Principal] {
        (self.subscribers[target] ?? []).map { ($0.text, $0) }.sorted { $0.0 < $1.0 }.map { $0.1 }
    }

    func objectCount(in bucket: Bucket) -> Int { self.objects.values.count { $0.object.bucket == bucket } }

    func commands(of thingID: String) -> [CommandRecord] {
        self.commands.values.filter { $0.thingID == thingID }.sorted { $0.number < $1.number }
    }

    fileprivate mutating func removeSubscriptions(to target: SubscriptionTarget) {
        for subscriber in self.subscribers(of: target) {
            self.remove(SubscriptionRecord(target: target, subscriber: subscriber))
        }
    }

    fileprivate mutating func removeBelongings(of principal: Principal) {
        self.removeTokens(of: .principal(principal))
        for installation in self.installations(of: principal) { self.remove(installation) }
        self.remove { (subscription: SubscriptionRecord) in subscription.subscriber == principal }
    }

    /// Also removes the rights of the scope's owner to other topics, since a later group with the same ID would get
    /// these rights.
    fileprivate mutating func removeContents(of scope: Scope) {
        self.remove { (topic: TopicRecord) in topic.topic.scope == scope }
        self.remove { (bucket: BucketRecord) in bucket.bucket.scope == scope }
        self.changeAll { (topic: inout TopicRecord) in topic.rights.revokeAll(from: scope) }
    }

    fileprivate mutating func remove<Record: StoredRecord>(where isMeant: (Record) -> Bool) {
        let meant = self[keyPath: Record.records].values.filter(isMeant)
        for record in meant.sorted(by: { $0.key < $1.key }) { self.remove(record) }
    }

    fileprivate mutating func changeAll<Record: StoredRecord>(_ change: (inout Record) -> Bool) {
        let changed = self[keyPath: Record.records].values.compactMap { record -> Record? in
            var record = record
            return change(&record) ? record : nil
        }
        for record in changed.sorted(by: { $0.key < $1.key }) { self.save(record) }
    }
}

// MARK: - Storage of each kind

extension UserRecord {
    static var records: WritableKeyPath<CloudState, [String: UserRecord]> { \.users }

    func index(in state: inout CloudState, isThere: Bool) {
        for field in UserRecord.names {
            guard let value = self.attributes[field]?.string else { continue }
            state.userNames["\(field) \(value)"] = isThere ? self.id : nil
        }
    }

    /// The groups and things of a deleted user remain: the groups lose the member, and the things lose the owner.
    func removeDependents(from state: inout CloudState) {
        state.removeBelongings(of: .user(self.id))
        state.removeContents(of: .user(self.id))
        state.changeAll { (group: inout GroupRecord) in group.members.remove(self.id) != nil }
        state.changeAll { (thing: inout ThingRecord) in thing.remove(.user(self.id)) }
    }
}

extension ThingRecord {
    static var records: WritableKeyPath<CloudState, [String: ThingRecord]> { \.things }

    func index(in state: inout CloudState, isThere: Bool) {
        state.vendorThingIDs[self.vendorThingID] = isThere ? self.id : nil
    }

    func removeDependents(from state: inout CloudState) {
        for command in state.commands(of: self.id) { state.remove(command) }
        state.removeBelongings(of: .thing(self.id))
        state.removeContents(of: .thing(self.id))
    }
}

extension GroupRecord {
    static var records: WritableKeyPath<CloudState, [String: GroupRecord]> { \.groups }

    func removeDependents(from state: inout CloudState) {
        state.removeContents(of: .group(self.id))
        state.changeAll { (thing: inout ThingRecord) in thing.remove(.group(self.id)) }
    }
}

extension TokenRecord {
    static var records: WritableKeyPath<CloudState, [String: TokenRecord]> { \.tokens }
}

extension InstallationRecord {
    static var records: WritableKeyPath<CloudState, [String: InstallationRecord]> { \.installations }

    func index(in state: inout CloudState, isThere: Bool) {
        state.installationsOfOwner.mark(self.id, of: self.owner, isThere: isThere)
        state.registrations["\(self.deviceType.rawValue):\(self.registrationID)"] = isThere ? self.id : nil
        if let credential = self.credential {
            state.installationsByUsername[credential.username] = isThere ? self.id : nil
        }
    }
}

extension TopicRecord {
    static var records: WritableKeyPath<CloudState, [String: TopicRecord]> { \.topics }

    func removeDependents(from state: inout CloudState) { state.removeSubscriptions(to: .topic(self.topic)) }
}

extension BucketRecord {
    static var records: WritableKeyPath<CloudState, [String: BucketRecord]> { \.buckets }

    func removeDependents(from state: inout CloudState) {
        state.remove { (object: ObjectRecord) in object.object.bucket == self.bucket }
        state.removeSubscriptions(to: .bucket(self.bucket))
    }
}

extension SubscriptionRecord {
    static var records: WritableKeyPath<CloudState, [String: SubscriptionRecord]> { \.subscriptions }

    func index(in state: inout CloudState, isThere: Bool) {
        state.subscribers.mark(self.subscriber, of: self.target, isThere: isThere)
    }
}

extension ObjectRecord {
    static var records: WritableKeyPath<CloudState, [String: ObjectRecord]> { \.objects }

    func removeDependents(from state: inout CloudState) {
        if let body = state.bodies[self.key] { state.remove(body) }
    }
}

extension ObjectBodyRecord {
    static var records: WritableKeyPath<CloudState, [String: ObjectBodyRecord]> { \.bodies }
}

extension CommandRecord {
    static var records: WritableKeyPath<CloudState, [String: CommandRecord]> { \.commands }
}

extension Dictionary {
    fileprivate mutating func mark<Member>(_ member: Member, of key: Key, isThere: Bool) where Value == Set<Member> {
        if isThere {
            self[key, default: []].insert(member)
        } else {
            self[key]?.remove(member)
            if self[key]?.isEmpty == true { self[key] = nil }
        }
    }
}
