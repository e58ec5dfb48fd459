import Foundation
import KiiPushActivation
import KiiPushCore
import TestSupport
import Testing

/// The sequences recorded in the launch detection document, for a program that an activator starts. The activator's
/// process presents alerts; the program gets the user's responses.
@Suite struct ActivatedOpeningTests {
    private static let dinner = #"{"aps":{"alert":"Dinner"}}"#
    private static let supper = #"{"aps":{"alert":"Supper","content-available":1}}"#

    private final class Scene: Sendable {
        let presenter: RecordingPresenter
        /// The lifecycle in the presenting process, which follows the program's lifecycle.
        let lifecycle: AgentLifecycle
        private let connection: FakeConnection
        private let events: AsyncStream<PushEvent>
        private let journal: String
        private let sent = Locked<UInt16>(0)

        init(
            _ presenter: RecordingPresenter, _ lifecycle: AgentLifecycle, _ connection: FakeConnection,
            _ events: AsyncStream<PushEvent>, journal: String
        ) {
            self.presenter = presenter
            self.lifecycle = lifecycle
            self.connection = connection
            self.events = events
            self.journal = journal
        }

        func send(_ payload: String) async throws {
            let id = self.sent.withLock { sent in
                sent += 1
                return sent
            }
            try await onThread { [connection] in
                try connection.send(
                    .publish(
                        MQTTPublish(
                            topic: "topic-1", payload: Array(payload.utf8), qos: .atLeastOnce, duplicate: false,
                            packetID: id)))
                _ = try connection.receiveAcknowledgements(1)
            }
        }

        func isDone() async {
            _ = await firstEvent(self.events) { event in
                guard case .message(let message) = event, case .done = message.kind else { return false }
                return true
            }
        }

        /// Makes the program call a function of its lifecycle, and waits until the presenting process has the new
        /// state.
        func call(_ function: String, until state: LifecycleState) async throws {
            try await self.send(#"{"do":"\#(function)"}"#)
            await self.isDone()
            for await current in self.lifecycle.states where current == state { return }
        }

        /// The calls that the program got, in order.
        func calls() throws -> [String] {
            try String(contentsOfFile: self.journal, encoding: .utf8).split(separator: "\n").map { String($0) }
        }
    }

    private func withScene(_ body: @escaping @Sendable (Scene) async throws -> Void) async throws {
        try await withActivationStage { stage in
            let journal = "\(stage.directory)/journal"
            var configuration = stage.example(journal: journal)
            configuration.command = [productsDirectory.appending(path: "OpeningAgent").path, journal]
            let (presenter, lifecycle) = (RecordingPresenter(), AgentLifecycle(state: .background))
            let activator = Activator(configuration: configuration, lifecycle: lifecycle)
            let agent = PushAgent(
                runtime: stage.runtime, configuration: stage.configuration, handler: activator,
                lifecycle: lifecycle, presenter: presenter, reconnect: .quick)
            let events = agent.events
            try await whileRunning(agent) {
                let connection = try await stage.broker.play { try $0.acceptSession() }
                try await body(
                    Scene(presenter, lifecycle, connection, events, journal: journal))
            }
            await activator.stop()
        }
    }

    @Test func openedAfterTheSystemEndedTheProgram() async throws {
        try await self.withScene { scene in
            try await scene.send(Self.supper)
            await scene.isDone()
            #expect(try #require(await scene.presenter.next()).respond(.opened(.open)))
            await scene.isDone()
            #expect(
                try scene.calls() == [
                    "didFinishLaunching(options)", "reception (background)", "willEnterForeground",
                    "reception (inactive, open)", "openedFromNotification(Supper)",
                ])
        }
    }

    @Test func openedAfterTheUserKilledTheProgram() async throws {
        try await self.withScene { scene in
            try await scene.send(Self.dinner)
            #expect(try #require(await scene.presenter.next()).respond(.opened(.open)))
            await scene.isDone()
            #expect(
                try scene.calls() == [
                    "didFinishLaunching(options)", "reception (inactive, open)", "openedFromNotification(Dinner)",
                ])
        }
    }

    @Test func openedWhileTheProgramIsInTheBackground() async throws {
        try await self.withScene { scene in
            try await scene.send(#"{"msg":"starts it"}"#)
            await scene.isDone()
            try await scene.send(Self.supper)
            await scene.isDone()
            #expect(try #require(await scene.presenter.next()).respond(.opened(.open)))
            await scene.isDone()
            #expect(
                try scene.calls().dropFirst(2) == [
                    "reception (background)", "willEnterForeground", "reception (inactive, open)",
                    "openedFromNotification(Supper)",
                ])
        }
    }

    @Test func aPushArrivesWhileTheUserLooksAtTheAppSwitcher() async throws {
        try await self.withScene { scene in
            try await scene.call("willEnterForeground", until: .inactive)
            try await scene.call("didBecomeActive", until: .active)
            try await scene.call("willResignActive", until: .inactive)
            // The program is in the foreground, so the alert is not presented, and its handler's answer ends the
            // message.
            try await scene.send(Self.dinner)
            await scene.isDone()
            try await scene.call("didBecomeActive", until: .active)
            #expect(
                try scene.calls().dropFirst(3) == [
                    "reception (active)", "reception (inactive)", "reception (inactive)",
                ])
        }
    }

    @Test func aBackgroundActionLeavesTheProgramWhereItIs() async throws {
        try await self.withScene { scene in
            try await scene.send(Self.dinner)
            #expect(try #require(await scene.presenter.next()).respond(.opened(.background("later"))))
            await scene.isDone()
            #expect(
                try scene.calls() == ["didFinishLaunching(options)", #"reception (background, background("later"))"#])
            #expect(scene.lifecycle.state == .background)
        }
    }
}
