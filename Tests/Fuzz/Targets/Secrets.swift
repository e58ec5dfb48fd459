import Glibc
import KiiPushCore

/// A secret that errors and overviews must not show.
package enum FuzzSecret {
    package static let text = "hunter2hunter2"
    static let bytes = Array(FuzzSecret.text.utf8)
}

extension String {
    /// Whether the text contains the secret's bytes.
    var holdsSecret: Bool { Array(self.utf8).holdsSecret }
}

extension [UInt8] {
    var holdsSecret: Bool { self.holds(FuzzSecret.bytes) }

    func holds(_ word: [UInt8]) -> Bool {
        guard let first = word.first else { return true }
        return self.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while rest.count >= word.count, let start = rest.base.baseAddress,
                let hit = memchr(start + rest.startIndex, Int32(first), rest.count - word.count + 1)
            {
                if memcmp(hit, word, word.count) == 0 { return true }
                rest = rest[(start.distance(to: hit) + 1)...]
            }
            return false
        }
    }

    /// Whether the secret is the name of a member. Errors may show names, to say where a fault is.
    var namesSecret: Bool {
        do throws(JSONError) {
            return try JSONValue(parsing: self).namesSecret
        } catch {
            return error.pointer.description.holdsSecret
        }
    }
}

extension JSONValue {
    fileprivate var namesSecret: Bool {
        (self.members ?? []).contains { $0.key.holdsSecret || $0.value.namesSecret }
            || (self.array ?? []).contains(where: \.namesSecret)
    }
}
