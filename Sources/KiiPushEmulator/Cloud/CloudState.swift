package import KiiPushCore

/// All that the cloud remembers, with the indexes to find it by, and what has to be written since the last look.
package struct CloudState: Sendable {
    private(set) var users: [String: UserRecord] = [:]
    private(set) var things: [String: ThingRecord] = [:]
    private(set) var groups: [String: GroupRecord] = [:]
    private(set) var tokens: [String: TokenRecord] = [:]
    private(set) var installations: [String: InstallationRecord] = [:]
    private(set) var topics: [String: TopicRecord] = [:]
    private(set) var buckets: [String: BucketRecord] = [:]
    private(set) var objects: [String: ObjectRecord] = [:]
    private(set) var bodies: [String: ObjectBodyRecord] = [:]

    /// `{field} {value}` to user ID, for the fields of ``UserRecord/names``.
    private var userNames: [String: String] = [:]
    private var vendorThingIDs: [String: String] = [:]
    private var refreshTokens: [String: String] = [:]
    private var tokensOfCaller: [Caller: Set<String>] = [:]
    private var installationsOfOwner: [Principal: Set<String>] = [:]
    /// `{deviceType}:{registrationID}` to installation ID.
    private var registrations: [String: String] = [:]
    private var subscribers: [SubscriptionTarget: Set<Principal>] = [:]
    private var topicsOfScope: [Scope: Set<String>] = [:]
    private var objectsOfBucket: [Bucket: Set<String>] = [:]

    private var changes: [StateChange] = []

    package init() {}

    /// What has to be written, in order; empties the list.
    mutating func takeChanges() -> [StateChange] {
        defer { self.changes = [] }
        return self.changes
    }

    mutating func removeAll() {
        self = CloudState()
        self.changes = [.removeAll]
    }

    // MARK: - Users, things and groups

    func user(field: String, value: String) -> UserRecord? {
        self.userNames["\(field) \(value)"].flatMap { self.users[$0] }
    }

    func thing(vendorThingID: String) -> ThingRecord? { self.vendorThingIDs[vendorThingID].flatMap { self.things[$0] } }

    mutating func save(_ user: UserRecord) {
        self.users[user.id] = user
        for field in UserRecord.names {
            if let value = user.attributes[field]?.string { self.userNames["\(field) \(value)"] = user.id }
        }
        self.changes.append(.save(user))
    }

    mutating func save(_ thing: ThingRecord) {
        self.things[thing.id] = thing
        self.vendorThingIDs[thing.vendorThingID] = thing.id
        self.changes.append(.save(thing))
    }

    mutating func save(_ group: GroupRecord) {
        self.groups[group.id] = group
        self.changes.append(.save(group))
    }

    // MARK: - Tokens

    func token(refreshedBy refreshToken: String) -> TokenRecord? {
        self.refreshTokens[refreshToken].flatMap { self.tokens[$0] }
    }

    mutating func save(_ token: TokenRecord) {
        self.tokens[token.key] = token
        self.tokensOfCaller[token.caller, default: []].insert(token.key)
        if let refreshToken = token.refreshToken { self.refreshTokens[refreshToken.reveal()] = token.key }
        self.changes.append(.save(token))
    }

    mutating func remove(_ token: TokenRecord) {
        self.tokens[token.key] = nil
        self.tokensOfCaller.remove(token.key, of: token.caller)
        if let refreshToken = token.refreshToken { self.refreshTokens[refreshToken.reveal()] = nil }
        self.changes.append(.remove(token))
    }

    mutating func removeTokens(of caller: Caller) {
        for key in self.tokensOfCaller[caller] ?? [] {
            if let token = self.tokens[key] { self.remove(token) }
        }
    }

    // MARK: - Installations

    func installation(deviceType: InstallationRecord.DeviceType, registrationID: String) -> InstallationRecord? {
        self.registrations["\(deviceType.rawValue):\(registrationID)"].flatMap { self.installations[$0] }
    }

    /// The owner's installations, in a fixed order.
    func installations(of owner: Principal) -> [InstallationRecord] {
        (self.installationsOfOwner[owner] ?? []).sorted().compactMap { self.installations[$0] }
    }

    mutating func save(_ installation: InstallationRecord) {
        if let former = self.installations[installation.id], former.owner != installation.owner {
            self.installationsOfOwner.remove(installation.id, of: former.owner)
        }
        self.installations[installation.id] = installation
        self.installationsOfOwner[installation.owner, default: []].insert(installation.id)
        self.registrations["\(installation.deviceType.rawValue):\(installation.registrationID)"] = installation.id
        self.changes.append(.save(installation))
    }

    mutating func remove(_ installation: InstallationRecord) {
        self.installations[installation.id] = nil
        self.installationsOfOwner.remove(installation.id, of: installation.owner)
        self.registrations["\(installation.deviceType.rawValue):\(installation.registrationID)"] = nil
        self.changes.append(.remove(installation))
    }

    // MARK: - Topics, buckets and who is subscribed to them

    /// By ID.
    func topics(in scope: Scope) -> [TopicRecord] {
        (self.topicsOfScope[scope] ?? []).sorted().compactMap { self.topics[Topic($0, in: scope).path] }
    }

    func isSubscribed(_ subscriber: Principal, to target: SubscriptionTarget) -> Bool {
        self.subscribers[target]?.contains(subscriber) ?? false
    }

    /// In a fixed order.
    func subscribers(of target: SubscriptionTarget) -> [Principal] {
        (self.subscribers[target] ?? []).map { ($0.text, $0) }.sorted { $0.0 < $1.0 }.map { $0.1 }
    }

    func subscriptions() -> [SubscriptionRecord] {
        self.subscribers.flatMap { target, subscribers in
            subscribers.map { SubscriptionRecord(target: target, subscriber: $0) }
        }.map { ($0.key, $0) }.sorted { $0.0 < $1.0 }.map { $0.1 }
    }

    mutating func save(_ topic: TopicRecord) {
        self.topics[topic.key] = topic
        self.topicsOfScope[topic.topic.scope, default: []].insert(topic.topic.id)
        self.changes.append(.save(topic))
    }

    mutating func remove(_ topic: TopicRecord) {
        self.removeSubscriptions(to: .topic(topic.topic))
        self.topics[topic.key] = nil
        self.topicsOfScope.remove(topic.topic.id, of: topic.topic.scope)
        self.changes.append(.remove(topic))
    }

    mutating func save(_ bucket: BucketRecord) {
        self.buckets[bucket.key] = bucket
        self.changes.append(.save(bucket))
    }

    /// Removes the bucket, all that is in it and the subscriptions to it.
    mutating func remove(_ bucket: BucketRecord) {
        for key in (self.objectsOfBucket[bucket.bucket] ?? []).sorted() {
            if let object = self.objects[key] { self.remove(object) }
        }
        self.removeSubscriptions(to: .bucket(bucket.bucket))
        self.buckets[bucket.key] = nil
        self.changes.append(.remove(bucket))
    }

    mutating func save(_ subscription: SubscriptionRecord) {
        self.subscribers[subscription.target, default: []].insert(subscription.subscriber)
        self.changes.append(.save(subscription))
    }

    mutating func remove(_ subscription: SubscriptionRecord) {
        self.subscribers.remove(subscription.subscriber, of: subscription.target)
        self.changes.append(.remove(subscription))
    }

    private mutating func removeSubscriptions(to target: SubscriptionTarget) {
        for subscriber in self.subscribers(of: target) {
            self.remove(SubscriptionRecord(target: target, subscriber: subscriber))
        }
    }

    // MARK: - Objects

    func objectCount(in bucket: Bucket) -> Int { self.objectsOfBucket[bucket]?.count ?? 0 }

    mutating func save(_ object: ObjectRecord) {
        self.objects[object.key] = object
        self.objectsOfBucket[object.object.bucket, default: []].insert(object.key)
        self.changes.append(.save(object))
    }

    mutating func remove(_ object: ObjectRecord) {
        if let body = self.bodies[object.key] { self.remove(body) }
        self.objects[object.key] = nil
        self.objectsOfBucket.remove(object.key, of: object.object.bucket)
        self.changes.append(.remove(object))
    }

    mutating func save(_ body: ObjectBodyRecord) {
        self.bodies[body.key] = body
        self.changes.append(.save(body))
    }

    mutating func remove(_ body: ObjectBodyRecord) {
        self.bodies[body.key] = nil
        self.changes.append(.remove(body))
    }
}

extension CloudState {
    /// Takes one stored row in; `false` when it cannot be understood.
    package mutating func load(table: String, value: JSONValue) -> Bool {
        defer { _ = self.takeChanges() }
        switch table {
        case UserRecord.table: return UserRecord(json: value).map { self.save($0) } != nil
        case ThingRecord.table: return ThingRecord(json: value).map { self.save($0) } != nil
        case GroupRecord.table: return GroupRecord(json: value).map { self.save($0) } != nil
        case TokenRecord.table: return TokenRecord(json: value).map { self.save($0) } != nil
        case InstallationRecord.table: return InstallationRecord(json: value).map { self.save($0) } != nil
        case TopicRecord.table: return TopicRecord(json: value).map { self.save($0) } != nil
        case BucketRecord.table: return BucketRecord(json: value).map { self.save($0) } != nil
        case SubscriptionRecord.table: return SubscriptionRecord(json: value).map { self.save($0) } != nil
        case ObjectRecord.table: return ObjectRecord(json: value).map { self.save($0) } != nil
        case ObjectBodyRecord.table: return ObjectBodyRecord(json: value).map { self.save($0) } != nil
        default: return false
        }
    }
}

extension Dictionary {
    /// Takes a member out of one of the sets of an index, and the set with the last one.
    fileprivate mutating func remove<Member>(_ member: Member, of key: Key) where Value == Set<Member> {
        self[key]?.remove(member)
        if self[key]?.isEmpty == true { self[key] = nil }
    }
}
