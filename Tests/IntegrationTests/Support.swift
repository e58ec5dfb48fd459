import Foundation
import KiiPushCore
import KiiPushEmulator
import Testing

/// A handler that keeps what it was given and answers as it was told.
final class RecordingHandler: RemoteNotificationHandler {
    struct Call: Sendable {
        var message: ReceivedMessage
        var context: DeliveryContext
    }

    let calls: AsyncStream<Call>
    private let continuation: AsyncStream<Call>.Continuation
    private let answer: @Sendable (Call) -> FetchResult

    init(answer: @escaping @Sendable (Call) -> FetchResult = { _ in .newData }) {
        (self.calls, self.continuation) = AsyncStream.makeStream()
        self.answer = answer
    }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage,
        context: DeliveryContext,
        fetchCompletionHandler completion: FetchCompletion
    ) {
        let call = Call(message: message, context: context)
        let result = self.answer(call)
        completion(result)
        self.continuation.yield(call)
    }

    /// The next calls, as many as asked for.
    func next(_ count: Int) async -> [Call] {
        var calls: [Call] = []
        for await call in self.calls {
            calls.append(call)
            if calls.count == count { break }
        }
        return calls
    }
}

/// A running emulator and a directory, both gone afterwards.
func withEmulator<Result>(
    strict: Bool = false,
    _ body: (Emulator, String) async throws -> Result
) async throws -> Result {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kii-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var configuration = Emulator.Configuration()
    configuration.directory = directory + "/emulator"
    configuration.runtimeFile = directory + "/emulator.json"
    configuration.strict = strict
    let emulator = try await Emulator.start(configuration)
    do {
        let result = try await body(emulator, directory)
        await emulator.stop()
        return result
    } catch {
        await emulator.stop()
        throw error
    }
}

extension Emulator {
    var app: KiiApp { KiiApp(appID: self.appID, appKey: self.appKey, baseURL: self.baseURL) }

    func runtime(_ directory: String, inbox: PushRuntime.Configuration.Inbox = .file) throws -> PushRuntime {
        var configuration = PushRuntime.Configuration(stateDirectory: directory)
        configuration.certificateAuthorityFile = self.certificateAuthorityFile
        configuration.inbox = inbox
        return try PushRuntime(configuration: configuration)
    }

    func adminToken(_ client: KiiClient) async throws -> Secret {
        try await client.login(clientID: self.adminClientID, clientSecret: self.adminClientSecret).token
    }
}

/// Runs `agent` while `body` does, then cancels it and waits until it has stopped.
func whileRunning<Result: Sendable>(
    _ agent: PushAgent,
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask {
            try await agent.run()
            return nil
        }
        group.addTask { try await body() }
        var result: Result?
        while result == nil, let next = try await group.next() { result = next }
        group.cancelAll()
        try await group.waitForAll()
        return try #require(result)
    }
}

/// Waits for the first event that `isWanted`.
func firstEvent(_ events: AsyncStream<PushEvent>, where isWanted: (PushEvent) -> Bool) async -> PushEvent? {
    for await event in events where isWanted(event) { return event }
    return nil
}
