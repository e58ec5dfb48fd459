import Glibc

/// The reason why an agent cannot register or run. The agent retries temporary failures and does not throw them.
public enum PushAgentError: Error, Sendable, CustomStringConvertible {
    /// A setting has an invalid value.
    case invalidConfiguration(setting: String, reason: String)
    /// Another process uses this state directory; `processID` is `nil` where it could not be read.
    case stateDirectoryInUse(path: String, processID: Int?)
    /// Another process of this user receives as this installation; a second receiver would knock it off.
    case installationInUse(installationID: String, processID: Int?)
    /// The agent is running already.
    case alreadyRunning
    /// The agent's ``MessageFeed`` has no messages for it.
    case feed(reason: String)
    /// The state belongs to another app, cloud or account than the configuration names. A token is sent only to the cloud
    /// that issued it.
    case stateOfAnotherAccount(path: String)
    /// The cloud refuses the agent's credentials. The agent does not retry: a refusal does not pass by itself.
    case signInRefused(KiiError)
    /// The cloud no longer accepts the token of a pseudo user, who has nothing else to sign in with.
    case pseudoUserLost(KiiError)
    /// The broker's endpoint offers no port for the transport that the configuration asks for.
    case noUsablePort(usesTLS: Bool, usesWebSocket: Bool)
    /// A file of the state could not be used.
    case file(FileError)
    /// A newer version of this library wrote the inbox, in a format that this one does not know.
    case inboxOfNewerVersion(path: String, version: Int)
    /// The inbox could not be opened, read or written.
    case inbox(reason: String)
    /// Another process, with this host and ID, has this gateway's name and renews its lease.
    case gatewayInUse(name: String, host: String, processID: Int)
    /// This gateway must stop, for this reason: it did not renew its lease in time and others have taken over its
    /// share, or its database is older than its own writes there. A process that starts anew takes its share again.
    case leaseLost(gateway: String, reason: String)
    /// The broker refused the subscription to the installation's topic time after time, while the cloud confirmed the
    /// topic each time. ``PushAgent/register(replacing:)`` throws it after two refusals.
    case subscriptionRefused

    /// One line: what failed and what to do about it.
    public var description: String {
        switch self {
        case .invalidConfiguration(let setting, let reason): "\(setting) \(reason)"
        case .stateDirectoryInUse(let path, let processID):
            "\(path) is in use by \(HostProcess(id: processID)); stop that one, or use another state directory"
        case .installationInUse(let installationID, let processID):
            "installation \(installationID) is held by \(HostProcess(id: processID)); stop that one, or receive as another user "
                + "or thing"
        case .alreadyRunning: "this agent is already running"
        case .feed(let reason): reason
        case .stateOfAnotherAccount(let path):
            "\(path) belongs to another app, cloud or account; register anew, or use another name or state directory"
        case .signInRefused(let error): "cannot sign in: \(error)"
        case .pseudoUserLost(let error):
            "the cloud no longer takes this pseudo user's token: \(error); to register anew makes another user, without "
                + "this one's subscriptions and messages"
        case .noUsablePort(let usesTLS, let usesWebSocket):
            "the broker's endpoint has no \(usesTLS ? "TLS" : "plain TCP") port\(usesWebSocket ? " for WebSocket" : ""); "
                + "choose another transport"
        case .file(let error): error.description
        case .inboxOfNewerVersion(let path, let version):
            "\(path) was written by a newer version (format \(version)); use that version, or another state directory"
        case .inbox(let reason): "the inbox cannot be used: \(reason)"
        case .gatewayInUse(let name, let host, let processID):
            "gateway \(name) is \(HostProcess(id: processID, host: host)); stop that one, or take another name"
        case .leaseLost(let gateway, let reason): "gateway \(gateway) ends: \(reason)"
        case .subscriptionRefused:
            "the broker refused the installation's own topic; delete the installation and register anew"
        }
    }
}

extension PushAgentError {
    /// Whether the failure may pass by itself, so that a program may start again later: another process holds the
    /// state, or a disk is full. Only a person can mend other failures.
    ///
    /// If this is `false`, a program that systemd keeps running exits with a status of `RestartPreventExitStatus=`.
    package var isTemporary: Bool {
        switch self {
        case .stateDirectoryInUse, .installationInUse, .inbox, .gatewayInUse, .leaseLost: true
        case .file(let error): error.isTemporary
        default: false
        }
    }
}
