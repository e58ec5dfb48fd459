import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import TestSupport
import TestTraits
import Testing

/// The emulator finds the agents on this machine that receive from it, and shows the fate of each push.
@Suite(.ownThreads) struct ReceiverFolderTests {
    /// Runs an agent with a control socket, beside an emulator with a follower of its activity.
    private func watching(
        _ handler: RecordingHandler, beforeRun isFollowed: Bool = true,
        _ body: @escaping @Sendable (Emulator, PushAgent, String) async throws -> Void
    ) async throws {
        try await withEmulator { emulator, directory in
            if isFollowed { emulator.activity.follow() }
            var configuration = PushRuntime.Configuration.patient(stateDirectory: directory + "/profiles/alice")
            configuration.certificateAuthorityFile = emulator.certificateAuthorityFile
            configuration.hasControlSocket = true
            configuration.retryDelays = [.zero]
            configuration.environment.runtimeDirectory = directory + "/run/kii-push"
            let runtime = try PushRuntime(configuration: configuration)
            let agent = PushAgent(
                runtime: runtime, configuration: .init(app: emulator.app, account: .pseudoUser), handler: handler)
            try await agent.register()
            try await whileRunning(agent) { try await body(emulator, agent, directory) }
            #expect(try await emulator.control("GET", "receivers")["receivers"] == [])
            await runtime.shutdown()
        }
    }

    /// Sends pushes until the emulator has received these events of one push. The emulator may begin to listen at any
    /// time, and the agent may write its events late.
    private func heard(
        _ words: [String], _ emulator: Emulator, _ agent: PushAgent
    ) async throws -> [MessageDelivery] {
        let user = try #require(try agent.registration()).principal.id
        let client = agent.client.session(try await emulator.adminToken(agent.client))
        let sending = Task {
            while !Task.isCancelled { _ = try await client.send(PushMessage(data: ["msg": "hi"]), to: .user(user)) }
        }
        defer { sending.cancel() }
        let log = emulator.activity
        return try await onThread {
            var last: Int64 = 0
            var pushes: [String: [MessageDelivery]] = [:]
            while let activities = log.next(after: last) {
                last = activities.last?.sequence ?? last
                for case .delivery(let delivery) in activities.map(\.event) {
                    guard let id = delivery.push?.id, delivery.event.kind != .received else { continue }
                    pushes[id, default: []].append(delivery)
                    guard case .done = delivery.event.kind, let told = pushes[id] else { continue }
                    if told.map(\.event.kind.word) == words || pushes.count > 1000 { return told }
                }
            }
            return []
        }
    }

    @Test(arguments: [true, false])
    func aPushIsFollowedToItsVerdict(isFollowed: Bool) async throws {
        let handler = RecordingHandler { $0.context.attempt == 1 ? .failed : .newData }
        try await self.watching(handler, beforeRun: isFollowed) { emulator, agent, directory in
            emulator.activity.follow()
            let words = ["started", "failed", "started", "done"]
            let deliveries = try await self.heard(words, emulator, agent)
            #expect(deliveries.map(\.event.kind.word) == words)
            let installation = try #require(try agent.registration()).installationID
            #expect(deliveries.allSatisfy { $0.installationID == installation && $0.receiver == "alice" })
            #expect(deliveries.filter { $0.elapsed != nil }.map(\.event.kind.word) == ["failed", "done"])
            let id = try #require(deliveries.first?.push?.id)
            let message = try await emulator.control("GET", "messages/\(id)")
            #expect(message["installations"]?["mqtt"] == [JSONValue(installation)])

            let number = try #require(deliveries.first?.event.messageID)
            let trace = try await emulator.control("GET", "receivers/alice/messages/\(number)")["events"]?.array ?? []
            let recorded = trace.compactMap { $0["kind"]?.string }
            #expect(recorded.starts(with: ["received", "stored", "acknowledged", "started", "failed"]), "\(recorded)")

            let receiver = try await emulator.control("GET", "receivers")["receivers"]?[0]
            // The path has its symbolic links resolved.
            let place = URL(fileURLWithPath: directory).resolvingSymlinksInPath().path + "/profiles/alice"
            #expect(receiver?["name"] == "alice" && receiver?["stateDirectory"]?.string == place)
            #expect(receiver?["installations"] == [JSONValue(installation)])
            #expect(receiver?["isReachable"] == true && receiver?["deadLetters"] == 0)
        }
    }

    /// The folder has its link already, so only the end of the connection tells of the new process.
    @Test func aReceiverThatRunsAgainIsFoundSoon() async throws {
        try await withEmulator { emulator, directory in
            let (state, folder) = (directory + "/r", directory + "/run/kii-push/receivers")
            for path in [state, folder] { try PrivateFile.makeDirectory(path) }
            let listener = try #require(FileDescriptor(socket: AF_UNIX))
            let code = sockaddr_un((state + "/control.sock").utf8).withAddress { bind(listener.number, $0, $1) }
            #expect(code == 0 && listen(listener.number, 16) == 0)
            #expect(symlink(state, folder + "/r") == 0)
            emulator.activity.follow()
            var moments: [MonotonicInstant] = []
            for _ in 1...3 {
                // The connection ends at once, because nothing holds it.
                _ = try #require(listener.accept())
                moments.append(.now())
            }
            let pauses = zip(moments.dropFirst(), moments).map { $0 - $1 }
            // The emulator looks every 15 s without a reason. The machine may stand still during one of the pauses.
            #expect(pauses.contains { $0 < .seconds(10) }, "\(pauses)")
        }
    }

    @Test func deadLettersAreShownRetriedAndDropped() async throws {
        let accepts = Locked(false)
        let handler = RecordingHandler { _ in accepts.withLock { $0 } ? .newData : .failed }
        try await self.watching(handler) { emulator, agent, _ in
            let user = try #require(try agent.registration()).principal.id
            let client = agent.client.session(try await emulator.adminToken(agent.client))
            let events = agent.events
            for number in 1...2 {
                _ = try await client.send(PushMessage(data: ["n": JSONValue(number)]), to: .user(user))
            }
            var dead: [Int64] = []
            for await event in events {
                if case .message(let event) = event, case .dead = event.kind { dead.append(event.messageID) }
                if dead.count == 2 { break }
            }
            var letters: [JSONValue] = []
            // The event precedes the write to the inbox.
            while letters.count < 2 {
                try Task.checkCancellation()
                letters = try await emulator.control("GET", "dead-letters")["deadLetters"]?.array ?? []
            }
            #expect(letters.map { $0["id"]?.int64 } == dead.sorted())
            #expect(letters.allSatisfy { $0["receiver"] == "alice" && $0["attempts"] == 2 })
            #expect(Set(letters.compactMap { $0["payload"]?["n"]?.int64 }) == [1, 2])
            #expect(letters.allSatisfy { $0["reason"]?.string?.isEmpty == false })
            accepts.withLock { $0 = true }
            let path = "dead-letters/alice"
            #expect(try await emulator.control("POST", "\(path)/\(dead[0])/retry") == ["outcome": "retried"])
            #expect(try await emulator.control("POST", "\(path)/\(dead[1])/drop") == ["outcome": "dropped"])
            #expect(try await emulator.control("POST", "\(path)/\(dead[1])/drop") == ["outcome": "notFound"])
            for await event in events {
                if case .message(let event) = event, case .done = event.kind, event.messageID == dead[0] { break }
            }
            #expect(try await emulator.control("GET", "dead-letters")["deadLetters"] == [])
        }
    }
}
