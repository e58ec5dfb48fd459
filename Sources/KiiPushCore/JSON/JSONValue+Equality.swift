extension JSONValue: Hashable {
    /// Whether both values are equal, by the rules of ``JSONValue``.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        guard left.kind == right.kind else { return false }
        switch left.kind {
        case .null: return true
        case .bool: return left.bool == right.bool
        case .number: return left.number == right.number
        case .string: return left.string?.utf8.elementsEqual((right.string ?? "").utf8) ?? false
        case .array: return left.array == right.array
        case .object: return left.members?.sortedByKey() == right.members?.sortedByKey()
        }
    }

    /// Hashes the parts that ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.kind)
        switch self.kind {
        case .null: break
        case .bool: hasher.combine(self.bool)
        case .number: hasher.combine(self.number)
        case .string: hasher.combine(self.string.map(ExactString.init))
        case .array: hasher.combine(self.array)
        case .object: hasher.combine(self.members?.sortedByKey())
        }
    }
}
