import Dispatch
import KiiPushCore
import TestSupport
import Testing

@Suite struct KeepAliveTests {
    /// Handlers block every thread of delivery until the broker has received three PINGREQs.
    @Test func aConnectionOutlivesHandlersThatAreSlowerThanThreeKeepalives() async throws {
        try await withFakeBroker(configure: { $0.environment.pingTimeout = .seconds(600) }) {
            broker, runtime, configuration in
            var configuration = configuration
            configuration.keepAlive = .seconds(1)
            let places = 4
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            let release = DispatchSemaphore(value: 0)
            let handler = RecordingHandler { _ in
                begin.yield()
                release.wait()
                return .newData
            }
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            let events = agent.events
            let connection = try await whileRunning(agent) {
                // This releases the handlers even if the test fails, because a stop waits for them.
                defer { for _ in 0..<places { release.signal() } }
                let messages = (1...places).map { number in
                    MQTTPacket.message(number, of: "source-\(number)", packetID: UInt16(number))
                }
                let connection = try await broker.bring(messages)
                var running = 0
                for await _ in begun {
                    running += 1
                    if running == places { break }
                }
                try await broker.play { _ in
                    for _ in 1...3 {
                        guard case .pingreq = try connection.receive() else { throw TestFailure("no PINGREQ") }
                        try connection.send(.pingresp)
                    }
                }
                return connection
            }
            // Releasing the connection would close it.
            withExtendedLifetime(connection) {}
            #expect(await handler.next(places).count == places)
            for await event in events {
                if case .disconnected(let reason, _) = event { Issue.record("\(reason)") }
                if case .stopping = event { break }
            }
        }
    }
}
