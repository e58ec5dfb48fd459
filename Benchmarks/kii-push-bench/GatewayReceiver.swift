import Glibc
import KiiPushCore
import KiiPushPostgres

/// `gateway memory|file DIRECTORY COUNT [CA-FILE]`: a process with many installations, each with an agent of one
/// runtime. The agents find their registrations in the state directory, and make no request to the cloud.
enum GatewayReceiver {
    /// Reads numbers from its input. For each number N, it prints `handled=N` after as many calls of the handler. At
    /// the end of the input it stops, and prints the seconds of stopping.
    @MainActor static func run(_ arguments: [String]) async throws {
        guard arguments.count >= 3, let count = Int(arguments[2]) else {
            throw ChildProcess.Failure(description: "usage: gateway memory|file DIRECTORY COUNT [CA-FILE]")
        }
        _ = Descriptors.raiseLimit()
        #if Postgres
        if arguments[0] == "postgres" { return try await self.share(arguments) }
        #endif
        var configuration = PushRuntime.Configuration(stateDirectory: arguments[1])
        configuration.inbox = arguments[0] == "memory" ? .memory : .file
        configuration.certificateAuthorityFile = arguments.count > 3 ? arguments[3] : nil
        let runtime = try PushRuntime(configuration: configuration)
        let handler = CountedCalls()
        let app = KiiApp(appID: "bench", appKey: "key", baseURL: "http://127.0.0.1:9/api")
        let usesTLS = configuration.certificateAuthorityFile != nil
        let stopped = try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                var one = PushAgent.Configuration(name: "agent-\(number)", app: app, account: .pseudoUser)
                one.keepAlive = .seconds(60)
                one.usesTLS = usesTLS
                let agent = PushAgent(runtime: runtime, configuration: one, handler: handler)
                group.addTask { try await agent.run() }
            }
            self.answer(from: handler)
            let begin = monotonicSeconds()
            group.cancelAll()
            try await group.waitForAll()
            return monotonicSeconds() - begin
        }
        await runtime.shutdown()
        print("stopped=\(stopped)")
    }

    #if Postgres
    /// `gateway postgres DIRECTORY 0 DATABASE NAME`: one gateway of a fleet.
    @MainActor private static func share(_ arguments: [String]) async throws {
        guard arguments.count == 5 else { throw ChildProcess.Failure(description: "gateway postgres …") }
        let runtime = try PushRuntime(
            .postgres(arguments[3]), gateway: arguments[4], configuration: .init(stateDirectory: arguments[1]))
        let handler = CountedCalls()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await runtime.receive { _ in handler }
                } catch {
                    // The caller waits only for the broker, so this process reports the error itself.
                    _ = "kii-push-bench: \(error)\n".withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
                    exit(1)
                }
            }
            self.answer(from: handler)
            group.cancelAll()
            try await group.waitForAll()
        }
        await runtime.shutdown()
    }
    #endif

    /// Reading blocks the main thread, which the agents do not need.
    @MainActor private static func answer(from handler: CountedCalls) {
        while let line = readLine(), let calls = Int(line) {
            handler.wait(until: calls)
            print("handled=\(calls)")
            fflush(nil)
        }
    }

    /// Makes a state directory as the registration of `count` agents leaves it, or as an earlier run does, with
    /// endpoints at `port`.
    static func makeStateDirectory(in folder: String, port: Int, count: Int, hasRun: Bool) throws -> String {
        let directory = "\(folder)/gateway-\(port)"
        for path in [directory, "\(directory)/agents"] where mkdir(path, 0o700) != 0 {
            throw ChildProcess.Failure(description: "cannot make \(path)")
        }
        for number in 0..<count {
            let path = "\(directory)/agents/agent-\(number).json"
            try write(
                """
                {"version":1,"appID":"bench","account":"pseudo-user","principalType":"user","principalID":"u",
                "accessToken":"t","issuer":"http://127.0.0.1:9",
                "installationID":"bench-\(port)-\(number)","hasSession":\(hasRun),"endpoint":{
                "installationID":"bench-\(port)-\(number)","host":"127.0.0.1","portTCP":\(port),"portSSL":\(port),
                "mqttTopic":"\(Workbench.topic)-\(number)","username":"u","password":"p"}}
                """,
                to: path
            )
            chmod(path, 0o600)
        }
        return directory
    }
}

private final class CountedCalls: RemoteNotificationHandler {
    private let calls = Locked(0)

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage,
        context: DeliveryContext,
        fetchCompletionHandler completion: FetchCompletion
    ) {
        completion(.newData)
        self.calls.withLock { $0 += 1 }
    }

    func wait(until calls: Int) { while self.calls.withLock({ $0 }) < calls { usleep(1_000) } }
}
