import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct PublishQueueTests {
    private static let start = MonotonicInstant(nanoseconds: 0)

    private static func messages(_ range: Range<Int>) -> [MQTTPublish] {
        range.map { MQTTPublish(topic: "push/\($0)", payload: [UInt8($0)]) }
    }

    @Test func aJobIsDoneWhenItsLastMessageIsAcknowledged() {
        var queue = PublishQueue()
        queue.add(job: 1, PublishQueueTests.messages(0..<2), deadline: PublishQueueTests.start + .seconds(5))
        queue.add(job: 2, PublishQueueTests.messages(2..<3), deadline: PublishQueueTests.start + .seconds(5))
        let sent = queue.takeMessages()
        #expect(sent.map { $0.topic } == ["push/0", "push/1", "push/2"])
        #expect(sent.allSatisfy { $0.qos == .atLeastOnce && !$0.retain && !$0.duplicate })
        let identifiers = sent.compactMap { $0.packetID }
        #expect(queue.acknowledged(packetID: identifiers[0]) == nil)
        #expect(queue.acknowledged(packetID: identifiers[2]) == 2)
        #expect(queue.acknowledged(packetID: identifiers[0]) == nil)
        #expect(queue.acknowledged(packetID: identifiers[1]) == 1)
        #expect(queue.isEmpty)
    }

    @Test func theWindowHoldsMessagesBack() {
        var queue = PublishQueue(window: 2)
        queue.add(job: 1, PublishQueueTests.messages(0..<3), deadline: PublishQueueTests.start + .seconds(5))
        let first = queue.takeMessages()
        #expect(first.count == 2)
        #expect(queue.takeMessages().isEmpty)
        _ = queue.acknowledged(packetID: first[0].packetID ?? 0)
        #expect(queue.takeMessages().map { $0.topic } == ["push/2"])
    }

    @Test func aLostConnectionSendsWhatWasNotAcknowledgedAgainInOrder() {
        var queue = PublishQueue(window: 3)
        queue.add(job: 1, PublishQueueTests.messages(0..<5), deadline: PublishQueueTests.start + .seconds(5))
        let sent = queue.takeMessages()
        _ = queue.acknowledged(packetID: sent[1].packetID ?? 0)
        queue.connectionLost()
        #expect(queue.takeMessages().map { $0.topic } == ["push/0", "push/2", "push/3"])
        #expect(queue.acknowledged(packetID: sent[1].packetID ?? 0) == nil)
    }

    @Test func aJobOutOfTimeIsGivenUpAndNotSent() {
        var queue = PublishQueue()
        queue.add(job: 1, PublishQueueTests.messages(0..<1), deadline: PublishQueueTests.start + .seconds(1))
        queue.add(job: 2, PublishQueueTests.messages(1..<2), deadline: PublishQueueTests.start + .seconds(5))
        #expect(queue.nextDeadline == PublishQueueTests.start + .seconds(1))
        #expect(queue.expire(now: PublishQueueTests.start + .milliseconds(999)).isEmpty)
        #expect(queue.expire(now: PublishQueueTests.start + .seconds(1)) == [1])
        #expect(queue.takeMessages().map { $0.topic } == ["push/1"])
        #expect(queue.nextDeadline == PublishQueueTests.start + .seconds(5))
    }

    @Test func aLateAcknowledgementOfAJobGivenUpIsNoSuccess() {
        var queue = PublishQueue()
        queue.add(job: 1, PublishQueueTests.messages(0..<1), deadline: PublishQueueTests.start + .seconds(1))
        let sent = queue.takeMessages()
        #expect(queue.expire(now: PublishQueueTests.start + .seconds(2)) == [1])
        #expect(queue.acknowledged(packetID: sent[0].packetID ?? 0) == nil)
    }

    @Test func packetIdentifiersAreNeverZeroNorTwiceInUse() {
        var queue = PublishQueue(window: 2)
        let held = { (queue: inout PublishQueue) -> UInt16 in
            queue.add(job: 0, PublishQueueTests.messages(0..<1), deadline: PublishQueueTests.start + .seconds(5))
            return queue.takeMessages().first?.packetID ?? 0
        }(&queue)
        for job in 1...UInt64(70_000) {
            queue.add(job: job, PublishQueueTests.messages(1..<2), deadline: PublishQueueTests.start + .seconds(5))
            let packetID = queue.takeMessages().first?.packetID ?? 0
            guard packetID != 0, packetID != held else {
                Issue.record("identifier \(packetID) at job \(job)")
                return
            }
            _ = queue.acknowledged(packetID: packetID)
        }
    }

    /// The queue is never empty here, as under load.
    @Test func whatWasSentIsNotKept() throws {
        var queue = PublishQueue(window: 1)
        var packetID: UInt16?
        for job in 0..<UInt64(10_000) {
            queue.add(job: job, PublishQueueTests.messages(0..<1), deadline: PublishQueueTests.start + .seconds(5))
            guard job > 0 else { continue }
            if let packetID { #expect(queue.acknowledged(packetID: packetID) == job - 2) }
            packetID = queue.takeMessages().first?.packetID
        }
        let waiting = try #require(Mirror(reflecting: queue).descendant("waiting") as? [Any])
        #expect(waiting.count < 5000)
    }
}
