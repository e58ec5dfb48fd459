/// What happened to a message beside its ordinary end, as its row keeps it: text that is only ever added to.
///
/// An ordinary end, success at the first attempt, is in columns of the row and adds nothing here. Each entry is a letter,
/// numbers with commas between them and, for some, a text behind its length in bytes: `f1203,1,1199,1000"6:failed`. The
/// first number is when it happened, in milliseconds after the reception; so is that of a start.
package enum RowTrail {
    package enum Event: Sendable, Hashable {
        /// The broker delivered the message again.
        case duplicate
        /// The message was in hand when a process ended, so this attempt is to run alone.
        case isolated(attempt: Int)
        /// The attempt failed; the next one was to follow after the pause.
        case failed(attempt: Int, startedAt: Timestamp?, failure: String, pause: Duration)
        /// It was shown to the user.
        case presented(attempt: Int, startedAt: Timestamp?)
        /// The user opened what showed it; as in ``RowChange/openedBy``.
        case opened(String)
        /// It was given up on; after an attempt, or without one.
        case dead(attempt: Int?, startedAt: Timestamp?, reason: String)
        /// An attempt whose time was over succeeded after all.
        case late(attempt: Int, RowAnswer)
        /// A person had it tried again.
        case requeued
    }

    package struct Entry: Sendable, Hashable {
        package var at: Timestamp
        package var event: Event

        package init(_ event: Event, at: Timestamp) {
            self.at = at
            self.event = event
        }
    }

    /// What a row's text says, and whether all of it could be read.
    package struct Reading: Sendable, Hashable {
        package var entries: [Entry]
        package var isWhole: Bool

        package init(entries: [Entry], isWhole: Bool) {
            self.entries = entries
            self.isWhole = isWhole
        }
    }

    /// Bytes beyond which nothing is added, so that a broker that repeats itself without end does not fill the disk.
    package static let limit = 16_384

    /// The text that says this.
    package static func text(_ entry: Entry, receivedAt: Timestamp) -> String {
        func after(_ moment: Timestamp?) -> String { moment.map { String($0.milliseconds(after: receivedAt)) } ?? "" }
        func quoted(_ text: String) -> String { "\"\(text.utf8.count):\(text)" }
        let at = after(entry.at)
        switch entry.event {
        case .duplicate: return "d\(at)"
        case .isolated(let attempt): return "x\(at),\(attempt)"
        case .failed(let attempt, let startedAt, let failure, let pause):
            return "f\(at),\(attempt),\(after(startedAt)),\(pause.wholeNanoseconds / 1_000_000)\(quoted(failure))"
        case .presented(let attempt, let startedAt): return "p\(at),\(attempt),\(after(startedAt))"
        case .opened(let choice): return "o\(at)\(quoted(choice))"
        case .dead(let attempt, let startedAt, let reason):
            return "k\(at),\(attempt.map { String($0) } ?? ""),\(after(startedAt))\(quoted(reason))"
        case .late(let attempt, let answer): return "l\(at),\(attempt),\(answer.rawValue)"
        case .requeued: return "q\(at)"
        }
    }

    /// Reads what ``text(_:receivedAt:)`` has written, up to the first thing that it cannot have.
    package static func read(_ text: String, receivedAt: Timestamp) -> Reading {
        var reader = Reader(bytes: Array(text.utf8), receivedAt: receivedAt)
        var entries: [Entry] = []
        while !reader.isAtEnd {
            guard let entry = reader.entry() else { return Reading(entries: entries, isWhole: false) }
            entries.append(entry)
        }
        return Reading(entries: entries, isWhole: true)
    }

    private struct Reader {
        let bytes: [UInt8]
        let receivedAt: Timestamp
        var position = 0

        var isAtEnd: Bool { self.position == self.bytes.count }

        mutating func entry() -> Entry? {
            let letter = self.bytes[self.position]
            self.position += 1
            guard let numbers = self.numbers(), let at = numbers[0],
                let event = self.event(letter, Array(numbers.dropFirst()))
            else { return nil }
            return Entry(event, at: self.moment(at))
        }

        private mutating func event(_ letter: UInt8, _ numbers: [Int64?]) -> Event? {
            let attempt = numbers.first.flatMap(\.self).map(Int.init(truncatingIfNeeded:))
            let startedAt = numbers.dropFirst().first.flatMap(\.self).map(self.moment)
            switch (letter, numbers.count) {
            case (UInt8(ascii: "d"), 0): return .duplicate
            case (UInt8(ascii: "q"), 0): return .requeued
            case (UInt8(ascii: "o"), 0): return self.quoted().map { .opened($0) }
            case (UInt8(ascii: "x"), 1): return attempt.map { .isolated(attempt: $0) }
            case (UInt8(ascii: "p"), 2): return attempt.map { .presented(attempt: $0, startedAt: startedAt) }
            case (UInt8(ascii: "l"), 2):
                guard let attempt, let answer = numbers[1].flatMap(RowAnswer.init) else { return nil }
                return .late(attempt: attempt, answer)
            case (UInt8(ascii: "k"), 2):
                return self.quoted().map { .dead(attempt: attempt, startedAt: startedAt, reason: $0) }
            case (UInt8(ascii: "f"), 3):
                guard let attempt, let pause = numbers[2], let failure = self.quoted() else { return nil }
                return .failed(
                    attempt: attempt, startedAt: startedAt, failure: failure, pause: .milliseconds(pause))
            default: return nil
            }
        }

        private func moment(_ after: Int64) -> Timestamp { self.receivedAt + .milliseconds(after) }

        /// One number or several with commas between them, any of which may be left out; `nil` where something is no
        /// number, or too large a one.
        private mutating func numbers() -> [Int64?]? {
            var numbers: [Int64?] = []
            while true {
                let start = self.position
                while let byte = self.peek, byte == UInt8(ascii: "-") || (48...57).contains(byte) { self.position += 1 }
                let digits = String(decoding: self.bytes[start..<self.position], as: UTF8.self)
                let number = Int64(digits)
                guard digits.isEmpty || number != nil else { return nil }
                numbers.append(number)
                guard self.peek == UInt8(ascii: ",") else { return numbers }
                self.position += 1
            }
        }

        private mutating func quoted() -> String? {
            guard self.peek == UInt8(ascii: "\"") else { return nil }
            self.position += 1
            let start = self.position
            while let byte = self.peek, (48...57).contains(byte) { self.position += 1 }
            guard let count = Int(String(decoding: self.bytes[start..<self.position], as: UTF8.self)),
                self.peek == UInt8(ascii: ":"), self.bytes.count - self.position > count
            else { return nil }
            self.position += 1
            defer { self.position += count }
            return String(decoding: self.bytes[self.position..<self.position + count], as: UTF8.self)
        }

        private var peek: UInt8? { self.isAtEnd ? nil : self.bytes[self.position] }
    }
}

/// How a handler answered a message that is done.
package enum RowAnswer: Int64, Sendable, Hashable, CaseIterable {
    case newData = 0
    case noData = 1
}

extension Timestamp {
    /// How long after `other` this moment is.
    fileprivate func milliseconds(after other: Timestamp) -> Int64 {
        let (difference, isTooLong) = self.millisecondsSinceEpoch.subtractingReportingOverflow(
            other.millisecondsSinceEpoch)
        return isTooLong ? 0 : difference
    }
}
