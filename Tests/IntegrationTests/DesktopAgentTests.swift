import Foundation
import KiiPushCore
import KiiPushDesktop
import TestSupport
import Testing

@Suite struct DesktopAgentTests {
    private static let dinner = #"{"aps":{"alert":"Dinner","category":"meal"}}"#

    private func play(
        _ desktop: Desktop, in directory: String, _ change: (inout DesktopPresenter.Configuration) -> Void = { _ in },
        _ body: @escaping @Sendable (OpeningRecorder, AgentLifecycle) async throws -> Void
    ) async throws {
        try await withFakeBroker(in: directory) { broker, runtime, configuration in
            var settings = DesktopStage.configuration(desktop.address)
            change(&settings)
            let presenter = DesktopPresenter(configuration: settings)
            let (handler, lifecycle) = (OpeningRecorder(), AgentLifecycle(state: .background))
            // The handler of the request does nothing; the test later reports that the window is active.
            lifecycle.onForegroundRequest { _ in }
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: handler, lifecycle: lifecycle,
                presenter: presenter, reconnect: .quick)
            try await whileRunning(agent) {
                let kept = try await broker.bring([
                    .publish(
                        MQTTPublish(
                            topic: "topic-1", payload: Array(Self.dinner.utf8), qos: .atLeastOnce, duplicate: false,
                            packetID: 1))
                ])
                try await body(handler, lifecycle)
                withExtendedLifetime(kept) {}
            }
            try await onThread { presenter.close() }
            #expect(try await runtime.ledger() == MessageLedger(received: 1, done: 1))
        }
    }

    @Test func aClickOpensTheProgramFromTheNotification() async throws {
        try await withTemporaryDirectory { directory in
            let desktop = try await Desktop(in: directory)
            let daemon = try await desktop.startDaemon()
            try await self.play(desktop, in: directory) { handler, lifecycle in
                #expect(try await daemon.nextNotification().body == "Dinner")
                try await daemon.order("invoke 1 action:reply")
                #expect(await handler.next() == "received 1 inactive opened")
                lifecycle.didBecomeActive()
                #expect(await handler.next() == "opened Dinner")
            }
        }
    }

    @Test func withoutAServiceTheHandlerIsCalledInstead() async throws {
        try await withTemporaryDirectory { directory in
            let desktop = try await Desktop(in: directory)
            try await self.play(desktop, in: directory) { handler, _ in
                #expect(await handler.next() == "received 1 background")
            }
        }
    }

    @Test func withoutABusTheHandlerIsCalledInstead() async throws {
        try await withTemporaryDirectory { directory in
            let desktop = try await Desktop(in: directory)
            desktop.end()
            try await self.play(desktop, in: directory) { handler, _ in
                #expect(await handler.next() == "received 1 background")
            }
        }
    }

    @Test func theNextServiceShowsItWhenTheFirstIsKilled() async throws {
        try await withTemporaryDirectory { directory in
            let desktop = try await Desktop(in: directory)
            let daemon = try await desktop.startDaemon()
            try await self.play(desktop, in: directory) { handler, lifecycle in
                #expect(try await daemon.nextNotification().body == "Dinner")
                // An answer to this order shows that the daemon has also answered `Notify`.
                try await daemon.order("release")
                daemon.kill()
                let next = try await desktop.startDaemon()
                #expect(try await next.nextNotification().body == "Dinner")
                try await next.order("invoke 1 default")
                #expect(await handler.next() == "received 1 inactive opened")
                lifecycle.didBecomeActive()
                #expect(await handler.next() == "opened Dinner")
            }
        }
    }

    @Test func theHandlerIsCalledWhenTheServiceIsKilledAndNoneFollows() async throws {
        try await withTemporaryDirectory { directory in
            let desktop = try await Desktop(in: directory)
            let daemon = try await desktop.startDaemon()
            try await self.play(desktop, in: directory, { $0.patience = .milliseconds(1) }) { handler, _ in
                _ = try await daemon.nextNotification()
                daemon.kill()
                #expect(await handler.next() == "received 1 background")
            }
        }
    }
}
