/// A member of an object.
public struct JSONMember: Sendable, Hashable {
    private let exactKey: ExactString
    /// The key, unescaped. Keys compare by Unicode scalars: `é` as one scalar and `é` as two are different keys.
    public var key: String { self.exactKey.text }
    /// The value.
    public var value: JSONValue

    package init(key: String, value: JSONValue) {
        self.exactKey = ExactString(key)
        self.value = value
    }
}

/// Compares scalar by scalar (RFC 8259 section 8.3). `String` treats canonically equivalent texts as equal.
struct ExactString: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactString, right: ExactString) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = self.text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}

extension [JSONMember] {
    /// Keeps only the last of several members with the same key.
    func uniqued() -> [JSONMember] {
        let replaced = self.replacedIndices()
        guard !replaced.isEmpty else { return self }
        return self.indices.filter { !replaced.contains($0) }.map { self[$0] }
    }

    func replacedIndices() -> Set<Int> {
        var replaced: Set<Int> = []
        if self.count <= 32 {
            // For small objects, comparing all pairs of keys is faster than hashing.
            for index in self.indices.dropLast() {
                let key = self[index].key.utf8
                let count = key.count
                let isReplaced = self[(index + 1)...].contains { later in
                    later.key.utf8.count == count && later.key.utf8.elementsEqual(key)
                }
                if isReplaced { replaced.insert(index) }
            }
        } else {
            var seen: Set<ExactString> = []
            for index in self.indices.reversed() where !seen.insert(ExactString(self[index].key)).inserted {
                replaced.insert(index)
            }
        }
        return replaced
    }

    func sortedByKey() -> [JSONMember] { self.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } }
}
