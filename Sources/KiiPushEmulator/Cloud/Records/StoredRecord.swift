package import KiiPushCore

/// A piece of the cloud's state that outlives the process: one row, written as JSON.
protocol StoredRecord: Sendable {
    /// The name under which its kind is stored; never changed, or old states cannot be read.
    static var table: String { get }
    /// Where the state keeps the records of its kind, by ``key``.
    static var records: WritableKeyPath<CloudState, [String: Self]> { get }
    /// What tells it from others of its kind.
    var key: String { get }
    var json: JSONValue { get }
    /// `nil` when `json` is not what this kind writes.
    init?(json: JSONValue)
    /// Puts the record into the state's indexes, or takes it out of them.
    func index(in state: inout CloudState, isThere: Bool)
    /// Removes what is nothing without the record.
    func removeDependents(from state: inout CloudState)
}

extension StoredRecord {
    func index(in state: inout CloudState, isThere: Bool) {}
    func removeDependents(from state: inout CloudState) {}
}

/// What has to happen to the stored state, in order.
package enum StateChange: Sendable, Equatable {
    case save(table: String, key: String, value: JSONValue)
    case remove(table: String, key: String)
    /// Every record of the cloud, of whatever kind; the app's identity and the ports are not the cloud's.
    case removeAll
}

// MARK: - Writing

extension JSONMembers {
    /// All of the members; those without a value are null.
    init(all members: KeyValuePairs<String, (any JSONConvertible)?>) {
        self.init()
        self.reserveCapacity(members.count)
        for (key, value) in members { self.append((key, value?.json ?? .null)) }
    }
}

extension JSONValue {
    /// An object of all of the members; those without a value are null.
    static func object(all members: KeyValuePairs<String, (any JSONConvertible)?>) -> JSONValue {
        .object(JSONMembers(all: members))
    }
}

extension Timestamp {
    /// In milliseconds since 1970.
    var json: JSONValue { JSONValue(self.millisecondsSinceEpoch) }
}

// MARK: - Reading

extension JSONValue {
    /// The scope that the member of this name says.
    var scope: Scope? { self["scope"]?.string.flatMap { Scope(prefix: $0) } }

    func caller(_ key: String) -> Caller? { self[key]?.string.flatMap { Caller(text: $0) } }

    func principal(_ key: String) -> Principal? { self[key]?.string.flatMap { Principal(text: $0) } }

    func secret(_ key: String) -> Secret? { self[key]?.string.map { Secret($0) } }

    func integer<Integer: FixedWidthInteger>(_ key: String) -> Integer? {
        self[key]?.int64.flatMap { Integer(exactly: $0) }
    }

    func time(_ key: String) -> Timestamp? { self[key]?.int64.map { Timestamp(millisecondsSinceEpoch: $0) } }

    func texts(_ key: String) -> Set<String>? { self[key]?.array.map { Set($0.compactMap { $0.string }) } }
}
