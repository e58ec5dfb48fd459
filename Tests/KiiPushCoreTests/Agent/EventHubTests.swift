import TestSupport
import Testing

@testable import KiiPushCore

/// Who hears of what happens.
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
