import Foundation
import KiiPushCore

/// The keywords of JSON Schema that the schemas in Documentation use; an unknown keyword is a fault.
enum SchemaCheck {
    /// The schema in `Documentation/NAME.schema.json`.
    static func schema(_ name: String) throws -> JSONValue {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let data = try Data(contentsOf: root.appending(path: "Documentation/\(name).schema.json"))
        return try JSONValue(parsing: Array(data))
    }

    /// - Parameter isClosed: whether undeclared members of an object are faults, although the schema allows them.
    static func faults(
        _ value: JSONValue, _ schema: JSONValue, at place: String = "", isClosed: Bool = false
    ) -> [String] {
        var faults: [String] = []
        for (keyword, rule) in (schema.members ?? []).map({ ($0.key, $0.value) }) {
            switch keyword {
            case "$schema", "title", "description": break
            case "type": if !self.isOfType(value, rule.string ?? "") { faults.append("\(place) is no \(rule)") }
            case "format":
                let isTime = value.string?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) != nil
                if rule != "date-time" || !isTime { faults.append("\(place) is no \(rule)") }
            case "const": if rule != value { faults.append("\(place) is not \(rule)") }
            case "minimum": break
            case "enum": if rule.array?.contains(value) != true { faults.append("\(place) is none of \(rule)") }
            case "required":
                for name in rule.array ?? [] where value[name.string ?? ""] == nil {
                    faults.append("\(place) lacks \(name)")
                }
            case "items":
                for element in value.array ?? [] {
                    faults += self.faults(element, rule, at: place + "/-", isClosed: isClosed)
                }
            case "properties", "additionalProperties": break
            default: faults.append("unknown keyword \(keyword)")
            }
        }
        for member in value.members ?? [] {
            let place = place + "/" + member.key
            if let rule = schema["properties"]?[member.key] {
                faults += self.faults(member.value, rule, at: place, isClosed: isClosed)
            } else if let rule = schema["additionalProperties"] {
                faults +=
                    rule == false
                    ? ["\(place) is unknown"] : self.faults(member.value, rule, at: place, isClosed: isClosed)
            } else if isClosed, schema["properties"] != nil {
                faults.append("\(place) is not declared")
            }
        }
        return faults
    }

    private static func isOfType(_ value: JSONValue, _ type: String) -> Bool {
        switch type {
        case "object": value.kind == .object
        case "array": value.kind == .array
        case "string": value.kind == .string
        case "boolean": value.kind == .bool
        case "integer": value.int64 != nil
        default: false
        }
    }
}
