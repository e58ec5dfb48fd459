import Glibc
import KiiPushCore

/// `agent memory|file|latency|idle DIRECTORY COUNT`: a whole agent, which finds its registration in the state directory
/// and makes no request to the cloud.
enum AgentReceiver {
    /// Receives until the handler was called COUNT times, and prints the handler's report. `idle` prints `subscribed`
    /// after the broker has granted the subscription, and runs until it is killed.
    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 3, let count = Int(arguments[2]) else {
            throw ChildProcess.Failure(description: "usage: agent memory|file|latency|idle DIRECTORY COUNT")
        }
        var configuration = PushRuntime.Configuration(stateDirectory: arguments[1])
        configuration.inbox = arguments[0] == "memory" ? .memory : .file
        let runtime = try PushRuntime(configuration: configuration)
        let app = KiiApp(appID: "bench", appKey: "key", baseURL: "http://127.0.0.1:9/api")
        var agentConfiguration = PushAgent.Configuration(app: app, account: .pseudoUser)
        // The report's rows state these settings.
        agentConfiguration.keepAlive = .seconds(60)
        agentConfiguration.usesTLS = false
        let handler = CountingHandler(count: count, measuresLatency: arguments[0] == "latency")
        let agent = PushAgent(runtime: runtime, configuration: agentConfiguration, handler: handler)
        // Only `idle` reads events, because a stream takes time for each event.
        let events = arguments[0] == "idle" ? agent.events : nil
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await agent.run() }
            group.addTask {
                guard let events else { return await handler.finished() }
                for await event in events {
                    guard case .connected = event else { continue }
                    print("subscribed")
                    fflush(nil)
                }
            }
            // Whichever task ends first, cancellation then stops the agent gracefully.
            try await group.next()
            group.cancelAll()
        }
        await runtime.shutdown()
        print(handler.report())
    }

    /// Makes a state directory as an earlier run leaves it, with an endpoint at `port`.
    static func makeStateDirectory(in folder: String, port: Int, isWebSocket: Bool = false) throws -> String {
        let directory = "\(folder)/agent-\(port)"
        for path in [directory, "\(directory)/agents"] where mkdir(path, 0o700) != 0 {
            throw ChildProcess.Failure(description: "cannot make \(path)")
        }
        let path = "\(directory)/agents/default.json"
        let ports = isWebSocket ? "\"portWS\":\(port)" : "\"portTCP\":\(port),\"portSSL\":\(port)"
        try write(
            """
            {"version":1,"appID":"bench","account":"pseudo-user","principalType":"user","principalID":"u",
            "accessToken":"t","issuer":"http://127.0.0.1:9",
            "installationID":"bench-\(port)","hasSession":false,"endpoint":{
            "installationID":"bench-\(port)","host":"127.0.0.1",\(ports),
            "mqttTopic":"\(Workbench.topic)","username":"u","password":"p"}}
            """,
            to: path
        )
        chmod(path, 0o600)
        return directory
    }
}
