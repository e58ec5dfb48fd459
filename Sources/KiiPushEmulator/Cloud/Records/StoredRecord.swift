package import KiiPushCore

/// A record of the cloud's state, one row of JSON.
protocol StoredRecord: Sendable {
    /// The name of the kind in the store. A change would make stored states unreadable.
    static var table: String { get }
    static var records: WritableKeyPath<CloudState, [String: Self]> { get }
    var key: String { get }
    var json: JSONValue { get }
    init?(json: JSONValue)
    func index(in state: inout CloudState, isThere: Bool)
    /// Removes the records that cannot exist without this record, and references to this record.
    func removeDependents(from state: inout CloudState)
}

extension StoredRecord {
    func index(in state: inout CloudState, isThere: Bool) {}
    func removeDependents(from state: inout CloudState) {}
}

package enum StateChange: Sendable, Equatable {
    case save(table: String, key: String, value: JSONValue)
    case remove(table: String, key: String)
    /// Removes the cloud's records, but keeps the app's identity and the ports.
    case removeAll
}

// MARK: - Writing

extension JSONMembers {
    init(all members: KeyValuePairs<String, (any JSONConvertible)?>) {
        self.init()
        self.reserveCapacity(members.count)
        for (key, value) in members { self.append((key, value?.json ?? .null)) }
    }
}

extension JSONValue {
    static func object(all members: KeyValuePairs<String, (any JSONConvertible)?>) -> JSONValue {
        .object(JSONMembers(all: members))
    }
}

extension Timestamp {
    var json: JSONValue { JSONValue(self.millisecondsSinceEpoch) }
}

// MARK: - Reading

extension JSONValue {
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
