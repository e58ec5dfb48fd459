package enum JSONLayout: Sendable, CaseIterable {
    case compact
    case lines
    /// One member a line, but no line breaks between the elements of an array. Kii's scripts and tests read the cloud's
    /// answers in this layout by line and offset.
    ///
    /// - Source: the samples of Kii's guides, which Jackson's default printer wrote
    case kii
}

extension JSONValue {
    /// Writes the value in UTF-8. Strings have escapes only where RFC 8259 section 7 requires them. An object with
    /// repeated keys keeps only the last member of each key.
    package func serialized(_ layout: JSONLayout = .compact, sortedKeys: Bool = false) -> [UInt8] {
        var writer = JSONWriter(layout: layout, sortsKeys: sortedKeys)
        writer.write(self, level: 0)
        return writer.bytes
    }

    /// The value on one line, without white space. An object with repeated keys keeps only the last member of each key.
    public var text: String { String(decoding: self.serialized(), as: UTF8.self) }
}

extension JSONValue: CustomStringConvertible {
    /// The value on one line.
    public var description: String { self.text }
}

struct JSONWriter {
    var bytes: [UInt8] = []
    let layout: JSONLayout
    let sortsKeys: Bool

    mutating func write(_ value: JSONValue, level: Int) {
        switch value.storage {
        case .null: self.bytes.append(contentsOf: "null".utf8)
        case .bool(let bool): self.bytes.append(contentsOf: (bool ? "true" : "false").utf8)
        case .number(let number): self.bytes.append(contentsOf: number.text.utf8)
        case .string(let string): self.write(string)
        case .array(let elements): self.write(elements, level: level)
        case .object(let members): self.write(members, level: level)
        case .parsed(let slice): self.write(slice, level: level)
        }
    }

    private mutating func write(_ slice: JSONSlice, level: Int) {
        switch slice.kind {
        case .array: self.write(slice.elements(), level: level)
        case .object:
            guard let members = slice.plainMembers() else { return self.write(slice.members(), level: level) }
            self.write(members, of: slice, level: level)
        case .string where slice.isEscaped: self.write(slice.string)
        case .string, .number, .bool, .null: self.bytes.append(contentsOf: slice.bytes[slice.range])
        }
    }

    private mutating func write(_ elements: [JSONValue], level: Int) {
        self.writeContainer(elements, open: "[", close: "]", level: level) { writer, element in
            writer.write(element, level: writer.layout == .kii ? level : level + 1)
        }
    }

    private mutating func write(_ members: [JSONSlice.PlainMember], of slice: JSONSlice, level: Int) {
        let bytes = slice.bytes
        let ordered =
            self.sortsKeys ? members.sorted { bytes[$0.key].lexicographicallyPrecedes(bytes[$1.key]) } : members
        self.writeContainer(ordered, open: "{", close: "}", level: level) { writer, member in
            writer.bytes.append(UInt8(ascii: "\""))
            writer.bytes.append(contentsOf: bytes[member.key])
            writer.bytes.append(UInt8(ascii: "\""))
            writer.endKey()
            writer.write(slice.slice(member.value), level: level + 1)
        }
    }

    private mutating func endKey() {
        if self.layout == .kii { self.bytes.append(UInt8(ascii: " ")) }
        self.bytes.append(UInt8(ascii: ":"))
        if self.layout != .compact { self.bytes.append(UInt8(ascii: " ")) }
    }

    private mutating func write(_ members: [JSONMember], level: Int) {
        let unique = members.uniqued()
        let ordered = self.sortsKeys ? unique.sortedByKey() : unique
        self.writeContainer(ordered, open: "{", close: "}", level: level) { writer, member in
            writer.write(member.key)
            writer.endKey()
            writer.write(member.value, level: level + 1)
        }
    }

    private mutating func writeContainer<Item>(
        _ items: [Item], open: Unicode.Scalar, close: Unicode.Scalar, level: Int,
        writeItem: (inout JSONWriter, Item) -> Void
    ) {
        self.bytes.append(UInt8(ascii: open))
        for (index, item) in items.enumerated() {
            if index > 0 { self.bytes.append(UInt8(ascii: ",")) }
            self.separate(from: open, level: level + 1)
            writeItem(&self, item)
        }
        if !items.isEmpty {
            self.separate(from: open, level: level)
        } else if self.layout == .kii {
            self.bytes.append(UInt8(ascii: " "))
        }
        self.bytes.append(UInt8(ascii: close))
    }

    private mutating func separate(from open: Unicode.Scalar, level: Int) {
        switch self.layout {
        case .compact: return
        case .kii where open == "[": self.bytes.append(UInt8(ascii: " "))
        case .lines, .kii:
            self.bytes.append(UInt8(ascii: "\n"))
            self.bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
        }
    }

    mutating func write(_ string: String) {
        var string = string
        self.bytes.append(UInt8(ascii: "\""))
        string.withUTF8 { utf8 in
            var plain = 0
            for (index, byte) in utf8.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5C {
                self.bytes.append(contentsOf: utf8[plain..<index])
                self.writeEscape(byte)
                plain = index + 1
            }
            self.bytes.append(contentsOf: utf8[plain...])
        }
        self.bytes.append(UInt8(ascii: "\""))
    }

    private mutating func writeEscape(_ byte: UInt8) {
        self.bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: self.bytes.append(UInt8(ascii: "b"))
        case 0x09: self.bytes.append(UInt8(ascii: "t"))
        case 0x0A: self.bytes.append(UInt8(ascii: "n"))
        case 0x0C: self.bytes.append(UInt8(ascii: "f"))
        case 0x0D: self.bytes.append(UInt8(ascii: "r"))
        case 0x00..<0x20:
            self.bytes.append(contentsOf: byte < 0x10 ? "u000".utf8 : "u001".utf8)
            self.bytes.append(contentsOf: String(byte & 0x0F, radix: 16).utf8)
        default: self.bytes.append(byte)
        }
    }
}
