package import KiiPushCore

package typealias JSONLiteral = KeyValuePairs<String, (any JSONConvertible)?>

extension JSONMembers {
    package init(_ members: JSONLiteral) { self.init(present: members) }
}

extension Timestamp: JSONConvertible {
    package var json: JSONValue { JSONValue(self.description) }
}

extension Int32: JSONConvertible {
    package var json: JSONValue { JSONValue(self) }
}
