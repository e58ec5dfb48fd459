import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct SourceSharingTests {
    /// Sends 600 messages of three slow sources, and then one message of a quick source.
    private func bring(_ broker: FakeBroker, padding: Int = 0) async throws -> FakeConnection {
        try await broker.play { broker in
            let connection = try broker.acceptSession()
            for number in 1...600 {
                let source = ["a", "b", "c"][number % 3]
                try connection.send(.message(number, of: source, packetID: UInt16(number), padding: padding))
            }
            try connection.send(.message(601, of: "quick", packetID: 601))
            _ = try connection.receiveAcknowledgements(601)
            return connection
        }
    }

    /// Many small messages, and large messages that exceed the memory's limit of bytes.
    @Test(arguments: [(messages: 64, padding: 0), (messages: 1000, padding: 50_000)])
    func slowSourcesWithLongBacklogsDelayNoOther(messages: Int, padding: Int) async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
                settings.bounds.messagesInMemory = messages
                settings.bounds.bytesInMemory = 1 << 20
                let runtime = try PushRuntime(configuration: settings)
                let release = DispatchSemaphore(value: 0)
                let handler = RecordingHandler { call in
                    if call.message.value(of: .topic) != "quick" {
                        release.wait()
                        release.signal()
                    }
                    return .newData
                }
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                try await whileRunning(agent) {
                    let connection = try await self.bring(broker, padding: padding)
                    #expect(await handler.next(1).map(\.number) == [601])
                    release.signal()
                    var orders: [String: [Int64]] = [:]
                    var rest = Set<Int64>(1...600)
                    for await call in handler.calls {
                        guard let number = call.number, rest.remove(number) != nil else { continue }
                        orders[call.message.value(of: .topic) ?? "", default: []].append(number)
                        if rest.isEmpty { break }
                    }
                    for source in ["a", "b", "c"] { #expect(orders[source] == orders[source]?.sorted()) }
                    withExtendedLifetime(connection) {}
                }
                let ledger = try await runtime.ledger()
                #expect(ledger.isBalanced)
                await runtime.shutdown()
            }
        }
    }

    @Test func withStrictOrderSourcesThatWaitForARetryDelayNoOther() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
                settings.bounds.messagesInMemory = 64
                settings.isStrictlyOrdered = true
                settings.retryDelays = [.seconds(36_000)]
                let runtime = try PushRuntime(configuration: settings)
                let handler = RecordingHandler { call in
                    call.message.value(of: .topic) == "quick" ? .newData : .failed
                }
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                try await whileRunning(agent) {
                    let connection = try await self.bring(broker)
                    // The first message of each slow source, and no second one.
                    #expect(Set(await handler.next(4).compactMap(\.number)) == [1, 2, 3, 601])
                    withExtendedLifetime(connection) {}
                }
                #expect(try await runtime.ledger().isBalanced)
                await runtime.shutdown()
            }
        }
    }
}

extension RecordingHandler.Call {
    fileprivate var number: Int64? { self.message.rawPayload["n"]?.int64 }
}
