import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// The `CountingAgent` program as a child process, and the log that it writes.
final class CountingProcess {
    /// What the log says.
    struct Log {
        var ended: Set<Int> = []
        var endedCount = 0
        var begunCount = 0
        /// Begun, and not ended by the same process.
        var interrupted: Int { self.begunCount - self.endedCount }
    }

    private let emulator: Emulator
    private let state: String
    private let log: String
    private let inbox: String
    private var process: Process?
    private var interruptedBefore = 0

    init(emulator: Emulator, directory: String, inbox: String) {
        self.emulator = emulator
        self.state = "\(directory)/state"
        self.log = "\(directory)/handled.log"
        self.inbox = inbox
    }

    /// Registers the pseudo user that the program then runs as.
    func register() async throws -> String {
        var settings = PushRuntime.Configuration(stateDirectory: self.state)
        settings.certificateAuthorityFile = self.emulator.certificateAuthorityFile
        let runtime = try PushRuntime(configuration: settings)
        let app = KiiApp(appID: self.emulator.appID, appKey: self.emulator.appKey, baseURL: self.emulator.baseURL)
        let agent = PushAgent(
            runtime: runtime, configuration: .init(app: app, account: .pseudoUser), handler: SilentHandler())
        let registration = try await agent.register()
        await runtime.shutdown()
        return registration.principal.id
    }

    func start() throws {
        let process = Process()
        process.executableURL = productsDirectory.appendingPathComponent("CountingAgent")
        process.arguments = [
            self.state, self.log, self.emulator.baseURL, self.emulator.appID,
            self.emulator.certificateAuthorityFile, self.inbox,
        ]
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["KII_APP_KEY": self.emulator.appKey.reveal(), "SWIFT_BACKTRACE": "enable=no"], uniquingKeysWith: { $1 })
        try process.run()
        self.process = process
    }

    func kill() {
        guard let process else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        self.process = nil
        self.interruptedBefore = self.read().interrupted
    }

    func stop() async {
        guard let process else { return }
        process.terminate()
        process.waitUntilExit()
        self.process = nil
    }

    /// Waits until so many messages have ended and another one is in its handler.
    func waitForHandler(afterEnded count: Int) async throws {
        try await self.wait { $0.endedCount >= count && $0.interrupted > self.interruptedBefore }
    }

    func waitForAll(_ count: Int) async throws -> Log {
        try await self.wait { $0.ended.count >= count }
    }

    @discardableResult
    private func wait(until isReached: (Log) -> Bool) async throws -> Log {
        let clock = ContinuousClock()
        let limit = clock.now + .seconds(120)
        while true {
            let log = self.read()
            if isReached(log) { return log }
            guard clock.now < limit, self.process?.isRunning == true else {
                Issue.record("the agent stopped, or made no progress: \(log.ended.count) messages ended")
                return log
            }
            try await clock.sleep(for: .milliseconds(2))
        }
    }

    private func read() -> Log {
        var log = Log()
        guard let text = try? String(contentsOfFile: self.log, encoding: .utf8) else { return log }
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let number = Int(words[1]) else { continue }
            if words[0] == "began" {
                log.begunCount += 1
            } else {
                log.endedCount += 1
                log.ended.insert(number)
            }
        }
        return log
    }
}

private struct SilentHandler: RemoteNotificationHandler {
    func didReceiveRemoteNotification(
        _ message: ReceivedMessage,
        context: DeliveryContext,
        fetchCompletionHandler completion: FetchCompletion
    ) {
        completion(.failed)
    }
}

extension Emulator {
    /// Sends a direct push for each number.
    func send(_ numbers: ClosedRange<Int>, toUser user: String) async throws {
        let runtime = try PushRuntime(configuration: .init(stateDirectory: self.directory))
        let client = runtime.client(for: KiiApp(appID: self.appID, appKey: self.appKey, baseURL: self.baseURL))
        let token = try await client.login(clientID: self.adminClientID, clientSecret: self.adminClientSecret).token
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, number) in numbers.enumerated() {
                if index >= 16 { try await group.next() }
                group.addTask {
                    _ = try await client.send(PushMessage(data: ["n": JSONValue(number)]), toUser: user, token: token)
                }
            }
            try await group.waitForAll()
        }
        await runtime.shutdown()
    }
}
