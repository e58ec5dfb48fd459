import KiiPushCore

/// What stands in a line for programs.
protocol JSONRepresentable { var json: JSONValue { get } }

extension JSONValue: JSONRepresentable { var json: JSONValue { self } }
extension String: JSONRepresentable { var json: JSONValue { JSONValue(self) } }
extension Bool: JSONRepresentable { var json: JSONValue { JSONValue(self) } }
extension Timestamp: JSONRepresentable { var json: JSONValue { JSONValue(self.description) } }
extension BinaryInteger where Self: JSONRepresentable { var json: JSONValue { JSONValue(self) } }
extension Int: JSONRepresentable {}
extension Int32: JSONRepresentable {}
extension Int64: JSONRepresentable {}

/// Members in the order of the literal: `["id": 7, "reason": nil]`. One without a value is left out.
typealias JSONMembers = KeyValuePairs<String, (any JSONRepresentable)?>

extension [(String, JSONValue)] {
    init(_ members: JSONMembers) {
        self = members.compactMap { key, value in value.map { (key, $0.json) } }
    }
}

extension JSONValue {
    /// An object of members.
    init(members: JSONMembers) { self = .object([(String, JSONValue)](members)) }
}
