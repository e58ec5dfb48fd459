#if Postgres
import KiiPushCore

/// The parameters of one statement: in PostgreSQL's binary format, or all as text (``init(texts:)``). In the binary
/// format, every number is sent as a `bigint`, whatever the type of the column.
///
/// - Source: PostgreSQL's `array_recv` and `int8recv`; "Message Formats" in its manual, `Bind`.
struct PostgresParameters {
    /// All parameters, one after the other. The first byte is unused, so that an empty parameter has an address too:
    /// libpq reads a null address as NULL.
    private(set) var bytes: [UInt8] = [0]
    private(set) var ranges: [Range<Int>?] = []

    // Object IDs from PostgreSQL's `src/include/catalog/pg_type.dat`. They never change.
    private static let (bytea, bigint, text): (Int32, Int32, Int32) = (17, 20, 25)

    let areTexts: Bool

    init(_ numbers: Int64?...) {
        self.areTexts = false
        for number in numbers { self.add(number) }
    }

    init(texts: [String?]) {
        self.areTexts = true
        for text in texts {
            self.add(text)
            if text != nil { self.append(UInt8(0)) }
        }
    }

    mutating func add(_ number: Int64?) {
        guard let number else { return self.ranges.append(nil) }
        self.add { $0.append(number) }
    }

    mutating func add(_ text: String?) {
        guard let text else { return self.ranges.append(nil) }
        self.add { $0.append(text: text) }
    }

    mutating func add(_ bytes: [UInt8]) { self.add { $0.bytes.append(contentsOf: bytes) } }

    mutating func add<Items: Collection>(_ items: Items, number: (Items.Element) -> Int64?) {
        self.addArray(of: PostgresParameters.bigint, items) { parameters, item in
            guard let number = number(item) else { return parameters.append(Int32(-1)) }
            parameters.append(Int32(8))
            parameters.append(number)
        }
    }

    mutating func add(_ numbers: some Collection<Int64>) { self.add(numbers) { $0 } }

    mutating func add<Items: Collection>(_ items: Items, text: (Items.Element) -> String?) {
        self.addArray(of: PostgresParameters.text, items) { parameters, item in
            guard let text = text(item) else { return parameters.append(Int32(-1)) }
            let place = parameters.bytes.count
            parameters.append(Int32(0))
            parameters.append(text: text)
            parameters.setLength(at: place)
        }
    }

    mutating func add<Items: Collection>(_ items: Items, bytes: (Items.Element) -> [UInt8]) {
        self.addArray(of: PostgresParameters.bytea, items) { parameters, item in
            let bytes = bytes(item)
            parameters.append(Int32(bytes.count))
            parameters.bytes.append(contentsOf: bytes)
        }
    }

    private mutating func addArray<Items: Collection>(
        of type: Int32, _ items: Items, _ add: (inout PostgresParameters, Items.Element) -> Void
    ) {
        self.add { parameters in
            parameters.append(Int32(items.isEmpty ? 0 : 1))
            // The flag for NULLs, which the server ignores.
            parameters.append(Int32(0))
            parameters.append(type)
            guard !items.isEmpty else { return }
            parameters.append(Int32(items.count))
            parameters.append(Int32(1))
            for item in items { add(&parameters, item) }
        }
    }

    private mutating func add(_ write: (inout PostgresParameters) -> Void) {
        let start = self.bytes.count
        write(&self)
        self.ranges.append(start..<self.bytes.count)
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { self.bytes.append(contentsOf: $0) }
    }

    /// Replaces U+0000, which PostgreSQL refuses in texts: the reason of a handler's error may contain it.
    private mutating func append(text: String) {
        guard text.utf8.contains(0) else { return self.bytes.append(contentsOf: text.utf8) }
        for unit in text.utf8 {
            if unit == 0 { self.bytes.append(contentsOf: "\u{FFFD}".utf8) } else { self.bytes.append(unit) }
        }
    }

    private mutating func setLength(at place: Int) {
        let length = Int32(self.bytes.count - place - 4)
        withUnsafeBytes(of: length.bigEndian) { self.bytes.replaceSubrange(place..<place + 4, with: $0) }
    }
}

/// Each connection prepares a statement with a name once.
struct PostgresStatement: Sendable, Hashable {
    var name: String
    var sql: String
    var step: String

    init(_ name: String, _ step: String, _ sql: String) { (self.name, self.sql, self.step) = (name, sql, step) }
}
#endif
