import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// Two agents with copies of one state directory, as on two machines.
@Suite struct TakeoverTests {
    private struct Course {
        var closures = 0
        var takeover: String?
        var pause: Duration?
        var reason: String?
    }

    /// Waits for the report of another receiver, and for the loss of the connection that follows.
    private func course(_ events: AsyncStream<PushEvent>) async -> Course {
        var course = Course()
        for await event in events {
            switch event {
            case .notice(.takenOver, let takeover, _): course.takeover = takeover
            case .disconnected(let reason, let pause):
                course.closures += 1
                guard course.takeover != nil else { continue }
                (course.reason, course.pause) = (reason, pause)
                return course
            default: break
            }
        }
        return course
    }

    private func agent(_ emulator: Emulator, _ runtime: PushRuntime, _ handler: RecordingHandler) -> PushAgent {
        // The delays are about a hundredth of the default policy's, except the delays of a dispute.
        var reconnect = ReconnectPolicy.Configuration.quick
        reconnect.baseDelay = .milliseconds(20)
        reconnect.maximumDelay = .milliseconds(200)
        reconnect.firstDisputedDelay = .seconds(2)
        reconnect.maximumDisputedDelay = .seconds(4)
        reconnect.pattern.kickedWithin = .zero
        return PushAgent(
            runtime: runtime, configuration: .init(app: emulator.app, account: .pseudoUser), handler: handler,
            reconnect: reconnect)
    }

    @Test func twoAgentsOnOneInstallationSayThatThereIsAnother() async throws {
        try await withEmulator { emulator, directory in
            let first = try emulator.runtime("\(directory)/first")
            let handlers = (RecordingHandler(), RecordingHandler())
            let user = try await self.agent(emulator, first, handlers.0).register().principal.id
            await first.shutdown()
            try FileManager.default.copyItem(atPath: "\(directory)/first", toPath: "\(directory)/second")
            let runtimes = try ["first", "second"].map { name in
                var configuration = PushRuntime.Configuration.patient(stateDirectory: "\(directory)/\(name)")
                configuration.certificateAuthorityFile = emulator.certificateAuthorityFile
                // Separate lock directories, because locks do not reach across machines.
                configuration.environment.lockDirectory = "\(directory)/\(name)/run"
                return try PushRuntime(configuration: configuration)
            }
            let agents = (
                self.agent(emulator, runtimes[0], handlers.0), self.agent(emulator, runtimes[1], handlers.1)
            )
            let events = (agents.0.events, agents.1.events)
            let later = (agents.0.events, agents.1.events)
            try await whileRunning(agents.0) {
                _ = await firstEvent(later.0) { if case .connected = $0 { true } else { false } }
                try await whileRunning(agents.1) {
                    async let one = self.course(events.0)
                    async let other = self.course(events.1)
                    for course in await [one, other] {
                        #expect(course.takeover?.contains("closed 5 connections within ") == true)
                        #expect(course.closures >= 5)
                        #expect(course.reason?.hasSuffix("another receiver seems to use this installation") == true)
                        #expect((.seconds(1) ... .seconds(4)).contains(course.pause ?? .zero))
                    }
                    // One of the two agents gets the message.
                    let admin = try await emulator.adminToken(agents.0.client)
                    _ = try await agents.0.client.session(admin).send(PushMessage(data: ["n": 1]), to: .user(user))
                    let call = await withTaskGroup(of: RecordingHandler.Call?.self) { group in
                        group.addTask { await handlers.0.next(1).first }
                        group.addTask { await handlers.1.next(1).first }
                        defer { group.cancelAll() }
                        return await group.next() ?? nil
                    }
                    #expect(call?.message.rawPayload["n"]?.int64 == 1)
                }
            }
            for runtime in runtimes { await runtime.shutdown() }
        }
    }
}
