package import Foundation
import Glibc
import KiiPushCore

/// The output of a program. A separate thread reads it, so that the program never waits for a slow test.
package final class ProgramOutput: Sendable {
    private struct State {
        var data = Data()
        var isAtEnd = false
        var text: String { String(decoding: self.data, as: UTF8.self) }
    }

    private let state = Locked(State())
    /// Locked around every change, so that a waiting thread misses none.
    private let condition = NSCondition()

    /// Takes over `descriptor`, and calls `line` with each whole line.
    init(_ descriptor: Int32, line: (@Sendable (String) -> Void)?) {
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var pending: [UInt8] = []
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                self.change { $0.data.append(contentsOf: buffer[..<count]) }
                guard let line else { continue }
                pending += buffer[..<count]
                while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                    line(String(decoding: pending[..<end], as: UTF8.self))
                    pending.removeFirst(end + 1)
                }
            }
            close(descriptor)
            self.change { $0.isAtEnd = true }
        }
    }

    /// The text once `isEnough` accepts it, at the end of the output, or when the time is over.
    package func wait(_ patience: TimeInterval, until isEnough: (String) -> Bool) -> String {
        let deadline = Date(timeIntervalSinceNow: patience)
        return self.condition.withLock {
            while true {
                let (text, isAtEnd) = self.state.withLock { ($0.text, $0.isAtEnd) }
                guard !isAtEnd, !isEnough(text), self.condition.wait(until: deadline) else { return self.text }
            }
        }
    }

    package func waitForEnd(_ patience: TimeInterval) -> Bool {
        let deadline = Date(timeIntervalSinceNow: patience)
        return self.condition.withLock {
            while !self.isAtEnd, self.condition.wait(until: deadline) {}
            return self.isAtEnd
        }
    }

    /// The whole text, after the end of the output.
    package func all() -> String {
        self.condition.withLock {
            while !self.isAtEnd { self.condition.wait() }
            return self.text
        }
    }

    private var isAtEnd: Bool { self.state.withLock { $0.isAtEnd } }

    private var text: String { self.state.withLock { $0.text } }

    private func change(_ body: (inout State) -> Void) {
        self.condition.withLock {
            self.state.withLock { body(&$0) }
            self.condition.broadcast()
        }
    }
}
