#if Postgres
import Dispatch
import Foundation
import Glibc
import KiiPushCore
import KiiPushPostgres

/// One gateway of the trial. It appends a line to a file for each message that a handler gets, and writes a row with
/// each answer. It prints the agents that are ready.
struct Gateway {
    private let runtime: PushRuntime
    private let log: Int32

    /// - Parameter arguments: the gateway's name, the database, the file, and a directory.
    init(_ arguments: some Collection<String>) throws {
        let words = Array(arguments)
        guard words.count == 4 else { throw PushAgentError.invalidConfiguration(setting: "gateway", reason: "NAME …") }
        self.log = open(words[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        self.runtime = try PushRuntime(
            .postgres(words[1]), gateway: words[0], configuration: .init(stateDirectory: words[3]))
    }

    /// - Returns: the exit status: 75 if other gateways have taken over.
    func run() async throws -> Int32 {
        let handler = LoggingHandler(log: self.log)
        let receiving = Task { [runtime] in
            try await runtime.receive { agent in
                handler.of(agent)
            } observer: { agent, event in
                if case .connected = event { FileHandle.standardOutput.write(Data("ready \(agent)\n".utf8)) }
            } tell: { event in
                FileHandle.standardError.write(Data("\(event)\n".utf8))
            }
        }
        signal(SIGTERM, SIG_IGN)
        let stop = DispatchSource.makeSignalSource(signal: SIGTERM)
        stop.setEventHandler { @Sendable in receiving.cancel() }
        stop.resume()
        do {
            try await receiving.value
            await self.runtime.shutdown()
            return 0
        } catch PushAgentError.leaseLost {
            return 75
        } catch PushAgentError.gatewayInUse {
            return 75
        }
    }
}

private struct LoggingHandler: RemoteNotificationHandler {
    let log: Int32
    var agent = ""

    func of(_ agent: String) -> LoggingHandler { LoggingHandler(log: self.log, agent: agent) }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        let line = Array("\(self.agent) \(message.rawPayload["n"]?.int64 ?? 0)\n".utf8)
        guard write(self.log, line, line.count) == line.count else {
            completion.reject("the log cannot be written")
            return
        }
        completion(
            .newData,
            committing: SQLStatement(
                "INSERT INTO trial.handled (agent, n) VALUES ($1, $2)", self.agent,
                "\(message.rawPayload["n"]?.int64 ?? 0)"))
    }
}
#endif
