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

extension JSONValue {
    /// The value of an optional field: left out by the caller when `nil`.
    static func optional(_ text: String?) -> JSONValue { text.map { JSONValue($0) } ?? .null }

    /// An object without the members that are null.
    static func compact(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.filter { !$0.1.isNull })
    }
}
