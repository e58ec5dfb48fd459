#if Postgres
import Glibc
import KiiPushCore
import KiiPushPostgres

// A gateway of a fleet, which counts the messages of each agent in a table:
//
//     CREATE SCHEMA app; CREATE TABLE app.counter (agent text PRIMARY KEY, messages bigint NOT NULL);
//
// The counts are exact even if the program is killed, or another gateway takes over an agent.

@main
struct ExactlyOnce {
    static func main() async throws {
        guard let store = getenv("KII_PUSH_STORE"), let name = CommandLine.arguments.dropFirst().first else {
            print("usage: KII_PUSH_STORE=postgres://… ExactlyOnce GATEWAY")
            exit(64)
        }
        var settings = PushRuntime.Configuration()
        settings.certificateAuthorityFile = getenv("KII_CA_FILE").map { String(cString: $0) }
        let runtime = try PushRuntime(
            .postgres(String(cString: store)), gateway: name, configuration: settings)
        try await runtime.receive { agent in Counter(agent: agent) }
    }
}

struct Counter: RemoteNotificationHandler {
    let agent: String

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        // A handler may get a message twice. Only the answer that counts executes the statement.
        completion(
            .newData,
            committing: SQLStatement(
                """
                INSERT INTO app.counter (agent, messages) VALUES ($1, 1)
                ON CONFLICT (agent) DO UPDATE SET messages = counter.messages + 1
                """, self.agent))
    }
}
#else
@main
struct ExactlyOnce {
    static func main() { print("Build it with the package trait Postgres: swift build --traits Postgres") }
}
#endif
