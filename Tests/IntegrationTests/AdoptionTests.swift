import Foundation
import KiiPushCore
import TestSupport
import Testing

/// Messages of a former installation, after another installation of the same user or thing has replaced it.
@Suite struct AdoptionTests {
    @Test func theNextInstallationOfTheSameOwnerHandlesThem() async throws {
        try await withTemporaryDirectory { directory in
            // The agent acknowledges all messages, and its handler never answers.
            try await withFakeBroker(in: directory, configure: { $0.shutdownGrace = .zero }) {
                broker, runtime, configuration in
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: SilentHandler(), reconnect: .quick)
                try await whileRunning(agent) {
                    _ = try await broker.bring((1...6).map { .message($0, packetID: UInt16($0)) })
                }
            }
            let reader = try InboxReader(stateDirectory: directory)
            let before = try reader.ledger()
            #expect(before.received == 6 && before.done == 0)
            // The agent's file now has another installation of the same user.
            try await withFakeBroker(in: directory) { broker, runtime, configuration in
                let handler = RecordingHandler()
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                let events = agent.events
                try await whileRunning(agent) {
                    // The mark as a duplicate is ignored: for the new installation this is a new message.
                    try await broker.bring([.message(1, packetID: 1, duplicate: true)])
                    let numbers = await handler.next(7).compactMap { $0.message.rawPayload["n"]?.int64 }
                    #expect(numbers.sorted() == [1, 1, 2, 3, 4, 5, 6])
                    let adopted = await firstEvent(events) { if case .adopted = $0 { true } else { false } }
                    guard case .adopted(let former, let count) = adopted else { return }
                    #expect(former != (try agent.registration()?.installationID))
                    #expect(count == 6)
                }
            }
            let after = try reader.ledger()
            #expect(after.received == 7 && after.done == 7 && after.duplicates == 0)
        }
    }

    @Test func anInstallationOfAnotherOwnerLeavesThemAlone() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/inbox.sqlite"
            try await withFakeBroker(in: directory) { broker, runtime, configuration in
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
                try await whileRunning(agent) { _ = try await broker.bring([]) }
            }
            let inbox = try Inbox(path: path)
            for (id, owner) in [
                ("theirs", InboxOwner(site: "http://127.0.0.1:1/api", app: "app", principal: "user:u-2")),
                ("elsewhere", InboxOwner(site: "http://127.0.0.1:2/api", app: "app", principal: "user:u-1")),
            ] {
                try inbox.transaction { transaction throws(InboxError) in
                    let key = try transaction.installation(id: id)
                    try transaction.set(owner, of: key)
                    try transaction.insert(
                        StoredMessage(installation: key, topic: "t", payload: [], receivedAt: .now(), state: .waiting))
                }
            }
            try await withFakeBroker(in: directory) { broker, runtime, configuration in
                let handler = RecordingHandler()
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                try await whileRunning(agent) {
                    try await broker.bring([.message(1, packetID: 1)])
                    #expect(await handler.next(1).map(\.context.messageID) == [3])
                }
                let reader = try InboxReader(stateDirectory: directory)
                #expect(try reader.ledger().waiting == 2)
                #expect(try reader.stranded().map(\.installationID) == ["theirs", "elsewhere"])
                #expect(try reader.stranded().map(\.messages) == [1, 1])
            }
        }
    }

    /// The first agent adopts the installation of the second agent, which has the same user and starts later.
    @Test func anAgentThatBeginsLaterGetsItsInstallationBackAndKeepsIt() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let folder = "\(runtime.configuration.stateDirectory)/agents"
            let state = String(decoding: try #require(try PrivateFile.read("\(folder)/default.json")), as: UTF8.self)
            let id = try #require(try JSONValue(parsing: state)["installationID"]?.string)
            try PrivateFile.replace(
                "\(folder)/late.json", with: Array(state.replacing(id, with: UUID().uuidString).utf8))
            var ofLate = configuration
            ofLate.name = "late"
            let handler = RecordingHandler()
            let early = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
            let late = PushAgent(runtime: runtime, configuration: ofLate, handler: handler, reconnect: .quick)
            // After these two runs the inbox has both installations, and neither agent runs.
            for agent in [early, late] { try await whileRunning(agent) { _ = try await broker.bring([]) } }
            let running = Task { try await early.run() }
            let first = try await broker.bring([])
            try await whileRunning(late) {
                let connection = try await broker.bring([])
                running.cancel()
                try await running.value
                try await broker.play { _ in try connection.send(.message(1, packetID: 1)) }
                #expect(await handler.next(1).count == 1)
            }
            withExtendedLifetime(first) {}
        }
    }
}

private final class SilentHandler: RemoteNotificationHandler {
    private let completions = Locked<[FetchCompletion]>([])

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.completions.withLock { $0.append(completion) }
    }
}
