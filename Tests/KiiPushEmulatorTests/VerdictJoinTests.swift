import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct VerdictJoinTests {
    private static let hello = Array(#"{"msg":"hello"}"#.utf8)
    private static let bye = Array(#"{"msg":"bye"}"#.utf8)

    private static func event(_ messageID: Int64, _ kind: MessageEvent.Kind, at time: Int64 = 0) -> MessageEvent {
        MessageEvent(messageID: messageID, at: Timestamp(millisecondsSinceEpoch: time), kind: kind)
    }

    private static func start(
        _ messageID: Int64, attempt: Int = 1, of payload: [UInt8], by installation: String = "i1", at time: Int64 = 0
    ) throws -> MessageEvent {
        var event = Self.event(messageID, .started(attempt: attempt), at: time)
        let context = DeliveryContext(
            installationID: installation, messageID: messageID, receivedAt: event.at, attempt: attempt)
        event.call = .handler(try ReceivedMessage(payload: payload), context)
        return event
    }

    private static func push(_ id: String, _ payload: [UInt8], to installations: String...) -> VerdictJoin.Push {
        let label = MessageLabel(
            id: id, kind: "PUSH_TO_USER", source: "kiicloud://topics/a", sentAt: Timestamp(millisecondsSinceEpoch: 0))
        return VerdictJoin.Push(label, [(Array("{}".utf8), ["other"]), (payload, installations)])
    }

    @Test func whatCameBeforeTheHandlerIsToldWhenThePushIsKnown() throws {
        var join = VerdictJoin()
        join.add([Self.push("p1", Self.hello, to: "i1")])
        #expect(join.take(Self.event(7, .received, at: 1), of: "default").isEmpty)
        #expect(join.take(Self.event(7, .duplicate, at: 2), of: "default").isEmpty)
        let told = join.take(try Self.start(7, of: Self.hello, at: 3), of: "default")
        #expect(told.map(\.event.at.millisecondsSinceEpoch) == [1, 2, 3])
        #expect(told.allSatisfy { $0.push?.id == "p1" && $0.installationID == "i1" && $0.receiver == "default" })
        let end = join.take(Self.event(7, .done(.newData, attempt: 1, isLate: false), at: 15), of: "default")
        #expect(end.map(\.push?.id) == ["p1"])
        #expect(end.map(\.elapsed) == [Duration.milliseconds(12)])
    }

    @Test func theFirstOfEqualPushesIsTheFirstToBeHandled() throws {
        var join = VerdictJoin()
        join.add(["p1", "p2"].map { Self.push($0, Self.hello, to: "i1", "i2") })
        func first(_ id: Int64, _ installation: String, _ receiver: String) throws -> String? {
            join.take(try Self.start(id, of: Self.hello, by: installation), of: receiver).first?.push?.id
        }
        #expect(try first(1, "i1", "a") == "p1")
        #expect(try first(1, "i2", "b") == "p1")
        #expect(try first(2, "i1", "a") == "p2")
        // The installation `i1` got two pushes, so its third message has none.
        #expect(try first(3, "i1", "a") == nil)
        #expect(try first(2, "i2", "b") == "p2")
    }

    @Test func anotherPayloadOrInstallationIsAnotherPush() throws {
        var join = VerdictJoin()
        join.add([Self.push("p1", Self.hello, to: "i1")])
        #expect(join.take(try Self.start(1, of: Self.bye), of: "a").map(\.push?.id) == [nil])
        #expect(join.take(try Self.start(2, of: Self.hello, by: "i2"), of: "a").map(\.push?.id) == [nil])
        #expect(join.take(try Self.start(3, of: Array("{}".utf8)), of: "a").map(\.push?.id) == [nil])
        #expect(join.take(try Self.start(4, of: Self.hello), of: "a").map(\.push?.id) == ["p1"])
    }

    @Test func laterAttemptsAreOfTheSamePush() throws {
        var join = VerdictJoin()
        join.add([Self.push("p1", Self.hello, to: "i1"), Self.push("p2", Self.hello, to: "i1")])
        _ = join.take(try Self.start(1, of: Self.hello), of: "a")
        let failed = Self.event(1, .failed(attempt: 1, .failed, retryAfter: .seconds(1)), at: 5)
        #expect(join.take(failed, of: "a").map(\.push?.id) == ["p1"])
        let second = join.take(try Self.start(1, attempt: 2, of: Self.hello, at: 1005), of: "a")
        #expect(second.map(\.push?.id) == ["p1"])
        let done = join.take(Self.event(1, .done(.noData, attempt: 2, isLate: false), at: 1009), of: "a")
        #expect(done.map(\.elapsed) == [Duration.milliseconds(4)])
    }

    @Test func whatReachesNoHandlerIsToldWithoutAPush() {
        var join = VerdictJoin()
        join.add([Self.push("p1", Self.hello, to: "i1")])
        #expect(join.take(Self.event(1, .received), of: "a").isEmpty)
        let told = join.take(Self.event(1, .dead(.unexpectedTopic, attempt: nil)), of: "a")
        #expect(told.map(\.event.kind) == [.received, .dead(.unexpectedTopic, attempt: nil)])
        #expect(told.allSatisfy { $0.push == nil && $0.elapsed == nil })
    }

    /// A new inbox, after the former one was lost, counts from 1 again.
    @Test func aNumberThatIsReceivedAgainIsAnotherMessage() throws {
        var join = VerdictJoin()
        join.add([Self.push("p1", Self.hello, to: "i1"), Self.push("p2", Self.bye, to: "i1")])
        _ = join.take(try Self.start(1, of: Self.hello), of: "a")
        #expect(join.take(Self.event(1, .received), of: "a").isEmpty)
        #expect(join.take(try Self.start(1, of: Self.bye), of: "a").map(\.push?.id) == ["p2", "p2"])
    }

    @Test func aDeadLetterThatIsTriedAgainIsOfTheSamePush() throws {
        var join = VerdictJoin()
        join.add([Self.push("p1", Self.hello, to: "i1"), Self.push("p2", Self.hello, to: "i1")])
        _ = join.take(try Self.start(1, of: Self.hello), of: "a")
        _ = join.take(Self.event(1, .dead(.unexpectedTopic, attempt: 1)), of: "a")
        #expect(join.take(Self.event(1, .received), of: "a").isEmpty)
        #expect(join.take(try Self.start(1, of: Self.hello), of: "a").map(\.push?.id) == ["p1", "p1"])
    }

    /// Memory is bounded in bytes: a large push displaces only the oldest pushes, and a forgotten push takes no room.
    @Test func pushesAreForgottenByWhatTheyWeigh() throws {
        var join = VerdictJoin()
        for number in 1...40 {
            join.add([Self.push("p\(number)", Self.large(number % 2), to: "i1")])
        }
        for number in [1, 0] {
            let ids = try (1...20).compactMap { messageID in
                try join.take(Self.start(Int64(100 * number + messageID), of: Self.large(number)), of: "a").first?
                    .push?.id
            }
            #expect(ids.count < 17 && ids.last == (number == 1 ? "p39" : "p40"))
            let numbers = ids.compactMap { Int($0.dropFirst()) }
            #expect(numbers == numbers.sorted())
        }
    }

    private static func large(_ number: Int) -> [UInt8] {
        Array("{\"msg\":\"\(number)\(String(repeating: "x", count: 1 << 20))\"}".utf8)
    }

    @Test func memoryIsBounded() throws {
        var join = VerdictJoin()
        for number in 1...3000 { join.add([Self.push("p\(number)", Self.hello, to: "i1")]) }
        let first = join.take(try Self.start(1, of: Self.hello), of: "a").first?.push?.id
        #expect(first != nil && first != "p1")
        var told: [MessageDelivery] = []
        for number in 2...20_000 as ClosedRange<Int64> {
            for _ in 1...17 { told += join.take(Self.event(number, .duplicate), of: "a") }
        }
        // The events of forgotten messages are reported without a push. A message keeps only some of its events.
        #expect(told.count >= 10_000 * 16 && told.count < 20_000 * 16)
        #expect(told.allSatisfy { $0.push == nil })
    }
}
