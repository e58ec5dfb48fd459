package import Foundation
import Glibc

/// What a program writes. It is taken up as it comes, on a thread of its own, so that the program never waits for a test
/// that reads late.
package final class ProgramOutput: @unchecked Sendable {
    // Proof for @unchecked Sendable: `data` and `isAtEnd` are touched with `condition` locked alone.
    private let condition = NSCondition()
    private var data = Data()
    private var isAtEnd = false

    /// Takes over `descriptor`; tells `line` of each whole line.
    init(_ descriptor: Int32, line: (@Sendable (String) -> Void)?) {
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var pending: [UInt8] = []
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                self.append(buffer[..<count])
                guard let line else { continue }
                pending += buffer[..<count]
                while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                    line(String(decoding: pending[..<end], as: UTF8.self))
                    pending.removeFirst(end + 1)
                }
            }
            close(descriptor)
            self.end()
        }
    }

    /// The text when `isEnough` says so, at the end, or when the time is over.
    package func wait(_ patience: TimeInterval, until isEnough: (String) -> Bool) -> String {
        let deadline = Date(timeIntervalSinceNow: patience)
        return self.condition.withLock {
            while !self.isAtEnd, !isEnough(String(decoding: self.data, as: UTF8.self)) {
                guard self.condition.wait(until: deadline) else { break }
            }
            return String(decoding: self.data, as: UTF8.self)
        }
    }

    /// Whether the end has come in time.
    package func waitForEnd(_ patience: TimeInterval) -> Bool {
        let deadline = Date(timeIntervalSinceNow: patience)
        return self.condition.withLock {
            while !self.isAtEnd, self.condition.wait(until: deadline) {}
            return self.isAtEnd
        }
    }

    /// The text when all is there, however long that takes.
    package func all() -> String {
        self.condition.withLock {
            while !self.isAtEnd { self.condition.wait() }
            return String(decoding: self.data, as: UTF8.self)
        }
    }

    private func append(_ bytes: ArraySlice<UInt8>) {
        self.condition.withLock {
            self.data.append(contentsOf: bytes)
            self.condition.broadcast()
        }
    }

    private func end() {
        self.condition.withLock {
            self.isAtEnd = true
            self.condition.broadcast()
        }
    }
}
