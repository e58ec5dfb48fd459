package import KiiPushCore

/// What a command finds in its environment about its message, and what of this process's is kept from it.
package enum ChildEnvironment {
    /// The secrets of this program, and what a service manager says to it alone. Programs with this library do not get
    /// them either: they have nothing to ask the cloud as this profile.
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
            // Standard input is a file, which can be opened as often as one likes.
            "KII_PUSH_PAYLOAD_FILE": "/dev/stdin",
            // Not inherited from a kii-push that started this one.
            "KII_PUSH_TOPIC": "", "KII_PUSH_BUCKET": "", "KII_PUSH_AGENT": "",
        ]
        for (name, value) in message.facts(context) { variables["KII_PUSH_\(name.uppercased())"] = value }
        return variables
    }
}
