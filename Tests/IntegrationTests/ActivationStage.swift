import Foundation
import Glibc
import KiiPushActivation
import KiiPushCore
import TestSupport

struct ActivationStage: Sendable {
    let directory: String
    let broker: FakeBroker
    let runtime: PushRuntime
    let configuration: PushAgent.Configuration

    static let attempts = 80

    final class Report: Sendable {
        let events: AsyncStream<Activator.Event>
        private let continuation: AsyncStream<Activator.Event>.Continuation

        init() { (self.events, self.continuation) = AsyncStream.makeStream() }

        func add(_ event: Activator.Event) { self.continuation.yield(event) }

        /// Waits for the next event for which `read` returns a value.
        func next<Value>(_ read: (Activator.Event) -> Value?) async -> Value? {
            for await event in self.events {
                if let value = read(event) { return value }
            }
            return nil
        }

        func nextStart() async -> Int32? {
            await self.next { if case .started(let processID) = $0 { processID } else { nil } }
        }

        func nextEnd() async -> String? {
            await self.next { if case .ended(_, let how) = $0 { how } else { nil } }
        }
    }

    static func shell(_ script: String, _ change: (inout Activator.Configuration) -> Void = { _ in })
        -> Activator.Configuration
    {
        var configuration = Activator.Configuration(command: ["/bin/bash", "-c", script])
        // Long patience, so that a busy machine does not end the program.
        configuration.terminationGrace = .seconds(600)
        change(&configuration)
        return configuration
    }

    func example(journal: String) -> Activator.Configuration {
        var configuration = Activator.Configuration(
            command: [productsDirectory.appending(path: "ActivatedAgent").path, journal])
        configuration.environment = [
            "KII_APP_ID": "app", "KII_APP_KEY": "key", "KII_BASE_URL": "http://127.0.0.1:1/api",
            "STATE_DIRECTORY": "\(self.directory)/program", "SWIFT_BACKTRACE": "enable=no",
        ]
        configuration.terminationGrace = .seconds(600)
        return configuration
    }

    /// Runs an agent with the activator until `body` returns, and then stops both.
    func play(
        _ configuration: Activator.Configuration,
        _ body: @escaping @Sendable (AsyncStream<PushEvent>, Report) async throws -> Void
    ) async throws {
        let report = Report()
        let activator = Activator(configuration: configuration, report: { report.add($0) })
        let agent = PushAgent(
            runtime: self.runtime, configuration: self.configuration, handler: activator, reconnect: .quick)
        let events = agent.events
        do {
            try await whileRunning(agent) { try await body(events, report) }
        } catch {
            await activator.stop()
            throw error
        }
        await activator.stop()
    }

    static func happens(
        _ messageID: Int64 = 1, in events: AsyncStream<PushEvent>, _ isWanted: (MessageEvent.Kind) -> Bool
    ) async -> MessageEvent.Kind? {
        let event = await firstEvent(events) { event in
            if case .message(let message) = event {
                message.messageID == messageID && isWanted(message.kind)
            } else {
                false
            }
        }
        if case .message(let message) = event { return message.kind }
        return nil
    }
}

/// Runs `body` with a stage. Handlers have `deadline`, and a retry comes after `pause`.
func withActivationStage(
    deadline: Duration = .seconds(600), pause: Duration = .milliseconds(1),
    _ body: (ActivationStage) async throws -> Void
) async throws {
    try await withTemporaryDirectory { directory in
        try await withFakeBroker(
            in: directory,
            configure: { settings in
                settings.environment.handlerDeadline = deadline
                settings.shutdownGrace = .zero
                settings.retryDelays = Array(repeating: pause, count: ActivationStage.attempts - 1)
            }
        ) { broker, runtime, configuration in
            try await body(
                ActivationStage(
                    directory: directory, broker: broker, runtime: runtime, configuration: configuration))
        }
    }
}
