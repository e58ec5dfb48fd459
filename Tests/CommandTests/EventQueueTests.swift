import KiiPushCommandLine
import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads) struct EventQueueTests {
    private static func event(_ id: Int64) -> PushEvent {
        .message(MessageEvent(messageID: id, at: .now(), kind: .received))
    }

    @Test func whatASlowReaderMissesIsCountedAndComesInItsPlace() async {
        let queue = EventQueue()
        let most = Int64(EventQueue.most)
        for id in 1...most + 12 { queue.put(Self.event(id), of: "agent") }
        var last: Int64 = 0
        var missed = 0
        for await (agent, notice) in queue.notices {
            switch notice {
            case .event(.message(let event)):
                #expect(agent == "agent")
                #expect(event.messageID == last + 1 + Int64(missed))
                last = event.messageID - Int64(missed)
                // The queue has room again, and the reader knows of the gap.
                if event.messageID == most { queue.put(Self.event(most + 13), of: "agent") }
                if missed > 0 { queue.finish() }
            case .event, .unknown: Issue.record("\(notice)")
            case .missed(let count):
                #expect(agent == nil)
                missed += count
            }
        }
        #expect(last == most + 1)
        #expect(missed == 12)
    }

    @Test func whatWasMissedLastIsToldAtTheEnd() async {
        let queue = EventQueue()
        for id in 1...Int64(EventQueue.most) + 3 { queue.put(Self.event(id)) }
        queue.finish()
        var notices = 0
        var missed = 0
        for await (_, notice) in queue.notices {
            notices += 1
            if case .missed(let count) = notice { missed += count }
        }
        #expect(notices == EventQueue.most + 1)
        #expect(missed == 3)
    }
}
