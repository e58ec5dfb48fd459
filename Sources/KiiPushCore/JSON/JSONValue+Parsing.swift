extension JSONValue {
    /// The most levels of arrays and objects. The scanner keeps one bit for each level in a `UInt64`.
    package static let maximumDepth = 64
    /// The largest document, in bytes; also the limit of HTTP bodies.
    package static let maximumBytes = 4_194_304

    /// Parses a document of at most 4 MiB and 64 levels. Checks the whole document, but makes no Swift values yet.
    ///
    /// - Parameter bytes: the document in UTF-8, with or without white space around its value. The value keeps the
    ///   array without a copy.
    /// - Throws: ``JSONError`` with the place of the first fault.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        try self.init(parsing: bytes, maximumDepth: JSONValue.maximumDepth)
    }

    package init(
        parsing bytes: [UInt8], maximumDepth: Int = JSONValue.maximumDepth, maximumBytes: Int = JSONValue.maximumBytes
    ) throws(JSONError) {
        guard bytes.count <= maximumBytes else { throw JSONError(code: .tooLarge, byteOffset: maximumBytes) }
        do throws(JSONFault) {
            let range = try bytes.withUnsafeBufferPointer { buffer throws(JSONFault) -> Range<Int> in
                guard let base = buffer.baseAddress else { throw JSONFault(.empty, at: 0) }
                var scanner = JSONScanner(base: base, count: buffer.count)
                try scanner.beginDocument()
                let start = scanner.position
                try scanner.skipValue(levels: min(maximumDepth, JSONValue.maximumDepth))
                let end = scanner.position
                try scanner.endDocument()
                return start..<end
            }
            self.init(slice: JSONSlice(bytes: bytes, range: range))
        } catch {
            throw error.located(in: bytes)
        }
    }

    /// Parses a text.
    ///
    /// - Throws: ``JSONError``; its offset counts UTF-8 bytes.
    public init(parsing text: String) throws(JSONError) { try self.init(parsing: Array(text.utf8)) }

    /// Pointers to the keys that an object repeats. Each access examines the whole value.
    package var duplicateKeys: [JSONPointer] {
        var found: [JSONPointer] = []
        self.collectDuplicateKeys(at: JSONPointer(), into: &found)
        return found
    }

    private func collectDuplicateKeys(at pointer: JSONPointer, into found: inout [JSONPointer]) {
        if let members = self.writtenMembers {
            let replaced = members.replacedIndices()
            var reported: Set<ExactString> = []
            for index in replaced.sorted() where reported.insert(ExactString(members[index].key)).inserted {
                found.append(pointer.appending(members[index].key))
            }
            for (index, member) in members.enumerated() where !replaced.contains(index) {
                member.value.collectDuplicateKeys(at: pointer.appending(member.key), into: &found)
            }
        } else if let elements = self.array {
            for (index, element) in elements.enumerated() {
                element.collectDuplicateKeys(at: pointer.appending(index), into: &found)
            }
        }
    }
}
