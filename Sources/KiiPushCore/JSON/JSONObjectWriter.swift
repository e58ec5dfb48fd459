/// Writes an object on one line, member by member, without a tree of values in between. Nothing looks for a key that
/// comes again: the keys are the program's own, and differ.
package struct JSONObjectWriter {
    private var writer = JSONWriter(layout: .compact, sortsKeys: false)

    /// The object with the members that `write` adds, in UTF-8.
    package static func bytes(_ write: (inout JSONObjectWriter) -> Void) -> [UInt8] {
        var object = JSONObjectWriter()
        // A line that tells of a message; growing to it from nothing would copy it several times.
        object.writer.bytes.reserveCapacity(1024)
        object.writeBraces(write)
        return object.writer.bytes
    }

    /// Adds a member that is an object itself.
    package mutating func add(_ key: String, _ write: (inout JSONObjectWriter) -> Void) {
        self.begin(key)
        self.writeBraces(write)
    }

    /// Adds a member with any value.
    package mutating func add(_ key: String, _ value: JSONValue) {
        self.begin(key)
        self.writer.write(value, level: 0)
    }

    /// Adds a member with a text.
    package mutating func add(_ key: String, _ text: String) {
        self.begin(key)
        self.writer.write(text)
    }

    /// Adds a member with a number.
    package mutating func add(_ key: String, _ integer: Int64) {
        self.begin(key)
        self.writer.bytes.append(contentsOf: integer.description.utf8)
    }

    package mutating func add(_ members: [(String, JSONValue)]) {
        for (key, value) in members { self.add(key, value) }
    }

    private mutating func begin(_ key: String) {
        if self.writer.bytes.last != UInt8(ascii: "{") { self.writer.bytes.append(UInt8(ascii: ",")) }
        self.writer.write(key)
        self.writer.bytes.append(UInt8(ascii: ":"))
    }

    private mutating func writeBraces(_ write: (inout JSONObjectWriter) -> Void) {
        self.writer.bytes.append(UInt8(ascii: "{"))
        write(&self)
        self.writer.bytes.append(UInt8(ascii: "}"))
    }
}
