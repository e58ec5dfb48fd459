import KiiPushCore

/// What a command finds in its environment about its message, and what of this process's is kept from it.
enum ChildEnvironment {
    /// What a service manager says to this program alone.
    static let ofServiceManager: Set<String> = ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"]

    /// The secrets of this program as well.
    static let withheld = ofServiceManager.union([
        EnvironmentVariable.appKey.rawValue, EnvironmentVariable.clientID.rawValue,
        EnvironmentVariable.clientSecret.rawValue, EnvironmentVariable.password.rawValue,
        EnvironmentVariable.credentialsDirectory.rawValue,
    ])

    /// - Parameter limit: how long the command has.
    static func variables(
        for message: HandledMessage, _ context: DeliveryContext, limit: Duration
    ) -> [String: String] {
        var variables = [
            "KII_PUSH_ID": String(context.messageID), "KII_PUSH_KIND": message.kind,
            "KII_PUSH_ATTEMPT": String(context.attempt),
            "KII_PUSH_DEADLINE": String((Timestamp.now() + limit).millisecondsSinceEpoch),
            // Standard input is a file, which can be opened as often as one likes.
            "KII_PUSH_PAYLOAD_FILE": "/dev/stdin",
            // Not inherited from a kii-push that started this one.
            "KII_PUSH_TOPIC": "", "KII_PUSH_BUCKET": "",
        ]
        switch message.source {
        case .topic(let name): variables["KII_PUSH_TOPIC"] = name
        case .bucket(let name): variables["KII_PUSH_BUCKET"] = name
        case nil: break
        }
        return variables
    }
}
