import Glibc

/// The reason why an agent cannot register or run.
public enum PushAgentError: Error, Sendable, CustomStringConvertible {
    /// A setting has an invalid value.
    case invalidConfiguration(setting: String, reason: String)
    /// Another process, or another runtime of this process, uses the state directory; `processID` is `nil` if it is
    /// unknown.
    case stateDirectoryInUse(path: String, processID: Int?)
    /// Another process of this user, or another agent of this process, receives as this installation.
    case installationInUse(installationID: String, processID: Int?)
    /// The agent is already running or registering.
    case alreadyRunning
    /// The agent's ``MessageFeed`` cannot deliver messages.
    case feed(reason: String)
    /// The agent's file belongs to another app, cloud or account than the configuration. A token is sent only to the
    /// cloud that issued it.
    case stateOfAnotherAccount(path: String)
    /// The cloud refuses the sign-in, for instance a password. A retry would not help.
    case signInRefused(KiiError)
    /// The cloud no longer accepts the token of a pseudo user, who has no other way to sign in.
    case pseudoUserLost(KiiError)
    /// The broker's endpoint has no port for the configured transport.
    case noUsablePort(usesTLS: Bool, usesWebSocket: Bool)
    /// A file, usually in the state directory, could not be used.
    case file(FileError)
    /// A newer version of this library wrote the inbox, in an unknown format.
    case inboxOfNewerVersion(path: String, version: Int)
    /// The inbox could not be opened, read or written.
    case inbox(reason: String)
    /// Another process, with this host and ID, runs a gateway of this name and renews its lease.
    case gatewayInUse(name: String, host: String, processID: Int)
    /// The gateway must stop. Other gateways took over its installations, since it did not renew its lease in time; or
    /// its database was replaced by an older copy.
    case leaseLost(gateway: String, reason: String)
    /// The broker refused the subscription to the installation's topic repeatedly, and the cloud confirmed the topic
    /// each time. ``PushAgent/register(replacing:)`` throws this if the broker refuses its second attempt.
    case subscriptionRefused

    /// One line: what failed, and for most errors what to do about it.
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
    /// Whether a later start may succeed without a person's help. If not, a program under systemd exits with a status
    /// of `RestartPreventExitStatus=`.
    package var isTemporary: Bool {
        switch self {
        case .stateDirectoryInUse, .installationInUse, .inbox, .gatewayInUse, .leaseLost: true
        case .file(let error): error.isTemporary
        default: false
        }
    }
}
