import TestSupport
import Testing

@testable import KiiPushCore

@Suite struct EventHubTests {
    private static let many = EventHub.bufferedEvents * 2

    private static func number(_ event: PushEvent) -> Int64? {
        if case .message(let event) = event { event.messageID } else { nil }
    }

    @Test func anObserverMissesNothingAndASlowReaderTheOldest() async {
        let hub = EventHub()
        #expect(!hub.hasListeners)
        let seen = Locked<[Int64]>([])
        hub.observe { event in seen.withLock { $0.append(Self.number(event) ?? 0) } }
        #expect(hub.hasListeners)
        let stream = hub.stream()
        for number in 1...Self.many {
            hub.emit(.message(MessageEvent(messageID: Int64(number), at: .now(), kind: .received)))
        }
        #expect(seen.withLock { $0 } == (1...Self.many).map(Int64.init))
        var iterator = stream.makeAsyncIterator()
        let oldest = await iterator.next(isolation: nil)
        #expect(oldest.flatMap(Self.number) == Int64(Self.many - EventHub.bufferedEvents + 1))
    }

    /// The state and the badge are two files.
    @Test func savingIsOverWhenTheLastFileIsWritten() {
        let hub = EventHub()
        let seen = Locked<[String]>([])
        hub.observe { event in if let note = StateNote(event) { seen.withLock { $0.append(note.state) } } }
        let failure = FileError.system(path: "a", operation: "write", code: 28)
        hub.emit(saving: "a", nil)
        #expect(seen.withLock { $0 } == [])
        hub.emit(saving: "a", failure)
        hub.emit(saving: "a", failure)
        hub.emit(saving: "b", failure)
        hub.emit(saving: "a", nil)
        #expect(seen.withLock { $0 } == ["not saving", "not saving"])
        #expect(hub.reason(of: .saving) != nil)
        hub.emit(saving: "b", nil)
        #expect(seen.withLock { $0 }.last == "saving again")
        #expect(hub.reason(of: .saving) == nil)
    }

    @Test func whoStopsReadingIsForgotten() async {
        let hub = EventHub()
        do {
            var iterator = hub.stream().makeAsyncIterator()
            hub.emit(.notice(.sessionLost, reason: "r"))
            _ = await iterator.next(isolation: nil)
        }
        #expect(!hub.hasListeners)
    }
}
