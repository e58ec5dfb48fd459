extension ExitStatus {
    /// What a command that talks to a cloud can end with.
    static let ofCloudCommands: [ExitStatus] = [
        .failure, .unreachable, .temporary, .protocolError, .authentication, .configuration,
    ]
}

extension EnvironmentVariable {
    /// What a command that talks to a cloud reads.
    static let ofCloudCommands: [EnvironmentVariable] = [
        .profile, .configurationFile, .baseURL, .appID, .appKey, .clientID, .clientSecret,
    ]
}
