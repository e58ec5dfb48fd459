/// Writes a JSON object on one line, without making a ``JSONValue`` of it first. The caller must not repeat a key.
package struct JSONObjectWriter {
    private var writer = JSONWriter(layout: .compact, sortsKeys: false)

    package static func bytes(_ write: (inout JSONObjectWriter) -> Void) -> [UInt8] {
        var object = JSONObjectWriter()
        // Room for an ordinary message, so that the array need not grow.
        object.writer.bytes.reserveCapacity(1024)
        object.writeBraces(write)
        return object.writer.bytes
    }

    package mutating func add(_ key: String, _ write: (inout JSONObjectWriter) -> Void) {
        self.begin(key)
        self.writeBraces(write)
    }

    package mutating func add(_ key: String, _ value: JSONValue) {
        self.begin(key)
        self.writer.write(value, level: 0)
    }

    package mutating func add(_ key: String, _ text: String) {
        self.begin(key)
        self.writer.write(text)
    }

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
