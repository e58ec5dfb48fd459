package import KiiPushCore

/// Environment variables of handlers' programs: those that no such program inherits, and those that tell the program of
/// a ``CommandHandler`` about its message and its deadline.
package enum ChildEnvironment {
    /// Variables with credentials of this program, and variables that a service manager sets only for this program.
    package static let withheld = Set(
        [
            .notifySocket, .watchdogProcess, .watchdogMicroseconds, .appKey, .clientID, .clientSecret, .password,
            .credentialsDirectory,
        ].map { (variable: EnvironmentVariable) in variable.name })

    package static func variables(
        for message: HandledMessage, _ context: DeliveryContext, limit: Duration
    ) -> [String: String] {
        var variables = [
            "KII_PUSH_DEADLINE": String((Timestamp.now() + limit).millisecondsSinceEpoch),
            // Standard input is a file, so a command can open it more than once.
            "KII_PUSH_PAYLOAD_FILE": "/dev/stdin",
            "KII_PUSH_TOPIC": "", "KII_PUSH_BUCKET": "", "KII_PUSH_AGENT": "",
        ]
        for (name, value) in message.facts(context) { variables["KII_PUSH_\(name.uppercased())"] = value }
        return variables
    }
}
