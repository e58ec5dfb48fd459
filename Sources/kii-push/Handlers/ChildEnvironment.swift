import KiiPushCore

/// What a command finds in its environment about its message, and what of this process's is kept from it.
enum ChildEnvironment {
    /// The secrets of this program, and what a service manager says to it alone. Programs with this library do not get
    /// them either: they have nothing to ask the cloud as this profile.
    static let withheld: Set<String> = [
        EnvironmentVariable.notifySocket.rawValue, EnvironmentVariable.watchdogProcess.rawValue,
        EnvironmentVariable.watchdogMicroseconds.rawValue, EnvironmentVariable.appKey.rawValue,
        EnvironmentVariable.clientID.rawValue, EnvironmentVariable.clientSecret.rawValue,
        EnvironmentVariable.password.rawValue, EnvironmentVariable.credentialsDirectory.rawValue,
    ]

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
        case .topic(let name): variables["KII_PUSH_TOPIC"] = name.visiblePercentEncoded
        case .bucket(let name): variables["KII_PUSH_BUCKET"] = name.visiblePercentEncoded
        case nil: break
        }
        return variables
    }
}
