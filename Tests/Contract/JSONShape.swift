package import KiiPushCore

/// Compares a value with a sample: equal members with equal JSON types at every depth.
package enum JSONShape {
    /// The differences of `value` from `sample`, each a pointer with words; empty if there are none.
    ///
    /// - Parameters:
    ///   - value: The received value.
    ///   - sample: The contract's sample. Every element of an array is compared with the first element of the sample.
    ///   - optional: Names of members that may be absent or null.
    package static func differences(
        of value: JSONValue,
        from sample: JSONValue,
        optional: Set<String> = [],
        at pointer: JSONPointer = JSONPointer()
    ) -> [String] {
        guard value.kind == sample.kind else { return ["\(pointer) is \(value.kind) instead of \(sample.kind)"] }
        if let elements = value.array {
            guard let first = sample[0] else { return [] }
            return elements.enumerated().flatMap { index, element in
                self.differences(of: element, from: first, optional: optional, at: pointer.appending(index))
            }
        }
        guard let members = value.members, let expected = sample.members else { return [] }
        var differences: [String] = []
        for member in expected {
            let place = pointer.appending(member.key)
            guard let found = value[member.key], !found.isNull || member.value.isNull else {
                if !optional.contains(member.key) { differences.append("\(place) is missing") }
                continue
            }
            differences += self.differences(of: found, from: member.value, optional: optional, at: place)
        }
        for member in members where sample[member.key] == nil && !(sample.members ?? []).isEmpty {
            differences.append("\(pointer.appending(member.key)) is not in the contract")
        }
        return differences
    }
}
