package import Foundation
package import KiiPushCore
package import KiiPushEmulator

/// A handler that records its calls and answers as the test chose.
package final class RecordingHandler: RemoteNotificationHandler {
    package struct Call: Sendable {
        package var message: ReceivedMessage
        package var context: DeliveryContext
    }

    package let calls: AsyncStream<Call>
    private let continuation: AsyncStream<Call>.Continuation
    private let answer: @Sendable (Call) -> FetchResult

    package init(answer: @escaping @Sendable (Call) -> FetchResult = { _ in .newData }) {
        (self.calls, self.continuation) = AsyncStream.makeStream()
        self.answer = answer
    }

    package func didReceiveRemoteNotification(
        _ message: ReceivedMessage,
        context: DeliveryContext,
        fetchCompletionHandler completion: FetchCompletion
    ) {
        let call = Call(message: message, context: context)
        let result = self.answer(call)
        completion(result)
        self.continuation.yield(call)
    }

    package func next(_ count: Int) async -> [Call] {
        var calls: [Call] = []
        for await call in self.calls {
            calls.append(call)
            if calls.count == count { break }
        }
        return calls
    }
}

extension Emulator.Configuration {
    /// An emulator with its files in `directory`. It waits long for its broker, which a busy machine may delay.
    package static func patient(in directory: String) -> Emulator.Configuration {
        var configuration = Emulator.Configuration()
        configuration.directory = directory + "/emulator"
        configuration.runtimeFile = directory + "/run/kii-push/emulator.json"
        configuration.patience.start = .seconds(600)
        configuration.patience.grant = .seconds(600)
        configuration.patience.publish = .seconds(600)
        configuration.patience.stop = .seconds(600)
        return configuration
    }
}

extension PushRuntime.Configuration {
    /// A runtime with long limits for connections, calls and handlers.
    package static func patient(stateDirectory: String) -> PushRuntime.Configuration {
        var configuration = PushRuntime.Configuration(stateDirectory: stateDirectory)
        configuration.environment.connectTimeout = .seconds(600)
        configuration.callTimeout = .seconds(600)
        configuration.environment.handlerDeadline = .seconds(600)
        configuration.shutdownGrace = .seconds(600)
        return configuration
    }
}

/// Runs `body` with an emulator and a directory, which are removed afterwards.
package func withEmulator<Result>(
    _ body: (Emulator, String) async throws -> Result
) async throws -> Result {
    try await withTemporaryDirectory { directory in
        let emulator = try await Emulator.start(.patient(in: directory))
        do {
            let result = try await body(emulator, directory)
            await emulator.stop()
            return result
        } catch {
            await emulator.stop()
            throw error
        }
    }
}

extension ReconnectPolicy.Configuration {
    /// For tests whose broker goes away: the agent reconnects quickly.
    package static let quick: ReconnectPolicy.Configuration = {
        var configuration = ReconnectPolicy.Configuration()
        configuration.baseDelay = .milliseconds(1)
        configuration.maximumDelay = .milliseconds(20)
        configuration.firstDisputedDelay = .milliseconds(1)
        configuration.maximumDisputedDelay = .milliseconds(20)
        return configuration
    }()
}

extension Emulator {
    package var app: KiiApp { KiiApp(appID: self.appID, appKey: self.appKey, baseURL: self.baseURL) }

    package func runtime(
        _ directory: String, inbox: PushRuntime.Configuration.Inbox = .file, lockDirectory: String = "/tmp",
        stateObstacle: @escaping @Sendable () -> FileError? = { nil }
    ) throws -> PushRuntime {
        var configuration = PushRuntime.Configuration.patient(stateDirectory: directory)
        configuration.certificateAuthorityFile = self.certificateAuthorityFile
        configuration.inbox = inbox
        configuration.environment.lockDirectory = lockDirectory
        configuration.environment.stateObstacle = stateObstacle
        return try PushRuntime(configuration: configuration)
    }

    package func adminToken(_ client: KiiClient) async throws -> Secret {
        try await client.login(.administrator(clientID: self.adminClientID, clientSecret: self.adminClientSecret)).token
    }
}

package func whileRunning<Result: Sendable>(
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
        guard let result else { throw TestFailure("the agent stopped before the test was done") }
        return result
    }
}

package func firstEvent(_ events: AsyncStream<PushEvent>, where isWanted: (PushEvent) -> Bool) async -> PushEvent? {
    for await event in events where isWanted(event) { return event }
    return nil
}

/// A failure of the tests' helpers.
package struct TestFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Runs `body` with a new directory, which is removed afterwards.
package func withTemporaryDirectory<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kii-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    // A remaining directory is harmless; the test's result matters more.
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try await body(directory)
}

/// Factor of the memory that programs use under a sanitizer, approximately: a sanitizer keeps data about every byte.
package let memoryScale =
    switch ProcessInfo.processInfo.environment["KII_TEST_SANITIZER"] {
    case "thread": 4
    case "address": 8
    default: 1
    }

/// The folder of the built programs, which is that of the test bundle.
package let productsDirectory = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

/// Runs blocking code on a new thread, so that it takes no thread from the tasks under test.
package func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}
