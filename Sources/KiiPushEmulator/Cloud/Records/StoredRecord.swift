package import KiiPushCore

/// A piece of the cloud's state that outlives the process: one row, written as JSON.
protocol StoredRecord: Sendable {
    /// The name under which its kind is stored; never changed, or old states cannot be read.
    static var table: String { get }
    /// What tells it from others of its kind.
    var key: String { get }
    var json: JSONValue { get }
    /// `nil` when `json` is not what this kind writes.
    init?(json: JSONValue)
}

/// What has to happen to the stored state, in order.
package enum StateChange: Sendable, Equatable {
    case save(table: String, key: String, value: JSONValue)
    case remove(table: String, key: String)
    /// Every record of the cloud, of whatever kind; the app's identity and the ports are not the cloud's.
    case removeAll

    static func save(_ record: some StoredRecord) -> StateChange {
        .save(table: type(of: record).table, key: record.key, value: record.json)
    }

    static func remove(_ record: some StoredRecord) -> StateChange {
        .remove(table: type(of: record).table, key: record.key)
    }
}

// MARK: - Writing

extension JSONValue {
    init(_ time: Timestamp) { self.init(time.millisecondsSinceEpoch) }

    /// An array of texts.
    init(texts: some Sequence<String>) { self.init(texts.map { JSONValue($0) }) }

    static func optional(_ text: String?) -> JSONValue { text.map { JSONValue($0) } ?? .null }

    static func optional(_ time: Timestamp?) -> JSONValue { time.map { JSONValue($0) } ?? .null }

    /// An object without the members that are null.
    static func compact(_ members: [(String, JSONValue)]) -> JSONValue { .object(members.filter { !$0.1.isNull }) }

    /// The members of an object, to write more beside them; none of another kind.
    var fields: [(String, JSONValue)] { (self.members ?? []).map { ($0.key, $0.value) } }
}

// MARK: - Reading

extension JSONValue {
    /// The scope that the member of this name says.
    var scope: Scope? { self["scope"]?.string.flatMap { Scope(prefix: $0) } }

    func caller(_ key: String) -> Caller? { self[key]?.string.flatMap { Caller(text: $0) } }

    func principal(_ key: String) -> Principal? { self[key]?.string.flatMap { Principal(text: $0) } }

    func secret(_ key: String) -> Secret? { self[key]?.string.map { Secret($0) } }

    func time(_ key: String) -> Timestamp? { self[key]?.int64.map { Timestamp(millisecondsSinceEpoch: $0) } }

    func texts(_ key: String) -> Set<String>? { self[key]?.array.map { Set($0.compactMap { $0.string }) } }
}
