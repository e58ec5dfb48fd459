import Foundation
import SeededNumbers

package struct Damage: Sendable, Hashable, CustomStringConvertible {
    package enum Moment: String, Sendable, CaseIterable {
        case afterStop = "after a clean stop"
        case afterKill = "after a kill"
        /// While an agent has the file open, but before it delivers the waiting messages.
        case whileOpen = "while open"
    }

    package enum Kind: String, Sendable, CaseIterable {
        case pageZeroed = "page zeroed"
        case pageGarbled = "page garbled"
        case pageOlder = "page of an older copy"
        case pageFlipped = "byte flipped in a page"
        case shortened = "file shortened"
        case shortenedWithoutLog = "file shortened, log gone"
        case logCut = "log cut before a frame"
        case logCutWithin = "log cut within a frame"
        case logHeaderFlipped = "byte flipped in a frame's header"
        case logPageFlipped = "byte flipped in a frame's page"

        /// Whether the damage needs a log: it damages the log itself, or the database while a log exists.
        var needsLog: Bool {
            switch self {
            case .pageZeroed, .pageGarbled, .pageOlder, .pageFlipped, .shortened: false
            case .shortenedWithoutLog, .logCut, .logCutWithin, .logHeaderFlipped, .logPageFlipped: true
            }
        }
    }

    package var moment: Moment
    package var kind: Kind
    /// The number of the damaged page or frame, from 1; for a shortened file, the last remaining page.
    package var place: Int

    package var description: String { "\(self.moment.rawValue)/\(self.kind.rawValue)/\(self.place)" }

    /// All possible damages to these files.
    ///
    /// - Parameter stride: Takes every `stride`-th place of each kind; the kinds start at different places. Default:
    ///   all places.
    package static func all(of past: Past, every stride: Int = 1) -> [Damage] {
        let kinds = Moment.allCases.flatMap { moment in
            Kind.allCases.filter { moment == .afterKill || !$0.needsLog }.map { (moment, $0) }
        }
        return kinds.enumerated().flatMap { index, kind in
            let places = kind.1.places(in: past.files(at: kind.0), older: past.older.files.database)
            // 7 and the usual strides have no common divisor.
            return Swift.stride(from: index * 7 % stride, to: places.count, by: stride).map {
                Damage(moment: kind.0, kind: kind.1, place: places[$0])
            }
        }
    }

    func apply(to files: inout InboxFiles, older: Data) {
        var random = SeededGenerator(seed: UInt64(self.place) << 8 | UInt64(self.kind.rawValue.utf8.count))
        switch self.kind {
        case .pageZeroed:
            files.database.replaceSubrange(files.page(self.place), with: Data(count: files.pageBytes))
        case .pageGarbled:
            let garbage = (0..<files.pageBytes).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            files.database.replaceSubrange(files.page(self.place), with: garbage)
        case .pageOlder:
            files.database.replaceSubrange(files.page(self.place), with: older[files.page(self.place)])
        case .pageFlipped:
            let byte = files.page(self.place).lowerBound + .random(in: 0..<files.pageBytes, using: &random)
            files.database[byte] ^= .random(in: 1...255, using: &random)
        case .shortened: files.database = files.database[..<(self.place * files.pageBytes)]
        case .shortenedWithoutLog:
            files.database = files.database[..<(self.place * files.pageBytes)]
            files.log = Data()
        case .logCut: files.log = files.log[..<files.frame(self.place)]
        case .logCutWithin:
            files.log = files.log[..<(files.frame(self.place) + .random(in: 1..<files.frameBytes, using: &random))]
        case .logHeaderFlipped:
            let byte = files.frame(self.place) + .random(in: 0..<InboxFiles.frameHeaderBytes, using: &random)
            files.log[byte] ^= .random(in: 1...255, using: &random)
        case .logPageFlipped:
            let header = files.frame(self.place) + InboxFiles.frameHeaderBytes
            files.log[header + .random(in: 0..<files.pageBytes, using: &random)] ^= .random(in: 1...255, using: &random)
        }
    }
}

extension Damage.Kind {
    fileprivate func places(in files: InboxFiles, older: Data) -> [Int] {
        switch self {
        case .pageZeroed, .pageGarbled, .pageFlipped: Array(1...files.pages)
        case .pageOlder:
            (1...min(files.pages, older.count / files.pageBytes)).filter {
                files.database[files.page($0)] != older[files.page($0)]
            }
        case .shortened, .shortenedWithoutLog: Array(0..<files.pages)
        case .logCut, .logCutWithin, .logHeaderFlipped, .logPageFlipped: Array(1...files.frames)
        }
    }
}
