/// An agent's state between runs: its principal, its token, its installation and the broker's endpoint.
///
/// One JSON file of mode 0600 per agent, or a row of a database, holds it. The state holds secrets. The cloud could
/// give all of it again, except the token of a pseudo user.
package struct AgentState: Sendable, Hashable {
    var appID: String
    /// ``KiiAccount/fingerprint`` of the account that signed in.
    var account: String
    var principal: Principal
    var token: AccessToken
    /// The token's issuer (``KiiApp/tokenIssuer``). The agent sends the token to no other server.
    var issuer: String
    package var installationID: String?
    /// The further members that the installation was made with. They outlive the installation.
    var installationMembers: JSONValue?
    /// Installations that the cloud has replaced. The inbox may hold messages of theirs that no handler has finished.
    package var formerInstallationIDs: [String] = []
    package var endpoint: MQTTEndpoint?
    /// When the endpoint expires and the agent asks the cloud for it again; `nil` when the cloud did not say.
    var endpointExpiresAt: Timestamp?
    /// Whether the agent has opened a session at the broker, so that its absence later on means a loss.
    package var hasSession = false
    /// Whether a session remained at the broker, with another topic or installation, and the agent has not reported its
    /// loss yet.
    package var lostSession = false
    /// ``RetainedMessage`` recognises the topic's retained message by this record. `nil` if the inbox file has none.
    var retained: RetainedMessage.Note?
    /// Whether the agent last used the session with its inbox in a file. A run with the inbox in memory writes nothing
    /// to the inbox file. The file then cannot tell whether the broker still has the session that brought its rows.
    /// Where it is unknown, as after a registration anew, it is `false`.
    var usesInboxFile = false
    /// Whether the last connection that stood went through a WebSocket.
    var usesWebSocket = false

    /// Whether the agent has had an installation, and so has spoken with its cloud.
    var wasRegistered: Bool { self.installationID != nil || !self.formerInstallationIDs.isEmpty }

    /// Whether both states belong to one user or thing, so that the token of the one serves the other.
    package func isOfSameOwner(as other: AgentState) -> Bool {
        self.principal == other.principal && self.account == other.account && self.issuer == other.issuer
    }

    /// Notes that the cloud no longer knows the installation.
    package mutating func leaveInstallation() {
        if let id = self.installationID, !self.formerInstallationIDs.contains(id) {
            self.formerInstallationIDs.append(id)
        }
        self.installationID = nil
        self.leaveSession()
    }

    /// Notes that the broker's session is of no use any more: its messages will not arrive.
    mutating func leaveSession() {
        self.lostSession = self.lostSession || self.hasSession
        self.hasSession = false
    }

    /// Takes over the parts that do not depend on the principal from the state of the agent's former one.
    package mutating func follow(_ former: AgentState) {
        var former = former
        former.leaveInstallation()
        self.formerInstallationIDs = former.formerInstallationIDs
        self.installationMembers = former.installationMembers
        self.lostSession = former.lostSession
    }

    /// The public part of the state; `nil` while there is no installation or endpoint yet.
    package var registration: Registration? {
        guard let installationID, let endpoint else { return nil }
        return Registration(
            principal: self.principal, installationID: installationID, host: endpoint.host, portTCP: endpoint.portTCP,
            portSSL: endpoint.portSSL, mqttTopic: endpoint.mqttTopic, installationMembers: self.installationMembers)
    }
}

// MARK: - The file's format

extension AgentState {
    /// The version rises when older versions of this library can no longer read the file.
    private static let version = 1

    init(_ file: JSONReader<FileError>) throws(FileError) {
        let version: Int = try file.required("version").integer()
        guard version <= AgentState.version else { throw .newerFormat(path: file.document, version: version) }
        let json = file.value
        let principalID = try file.required("principalID").text()
        let principal: Principal =
            switch try file.required("principalType").text() {
            case "user": .user(principalID)
            case "thing": .thing(principalID)
            default: throw file.failure("must be user or thing", at: "principalType")
            }
        self.appID = try file.required("appID").text()
        self.account = try file.required("account").text()
        self.principal = principal
        self.token = AccessToken(
            principal: principal, token: Secret(try file.required("accessToken").text()),
            refreshToken: json["refreshToken"]?.string.map { Secret($0) },
            expiresAt: json["expiresAt"]?.int64.map { Timestamp(millisecondsSinceEpoch: $0) })
        self.issuer = try file.required("issuer").text()
        self.installationID = json["installationID"]?.string
        self.installationMembers = json["installationMembers"]
        self.formerInstallationIDs = json["formerInstallationIDs"]?.array?.compactMap(\.string) ?? []
        self.hasSession = json["hasSession"]?.bool ?? false
        self.lostSession = json["lostSession"]?.bool ?? false
        self.usesInboxFile = json["usesInboxFile"]?.bool ?? false
        self.usesWebSocket = json["usesWebSocket"]?.bool ?? false
        self.retained = json["retained"].flatMap(RetainedMessage.Note.init(stored:))
        if let endpoint = file["endpoint"] { self.endpoint = try MQTTEndpoint(stored: endpoint) }
        // An endpoint on file with an unusable topic counts as none, so the agent asks for another one.
        if let topic = self.endpoint?.mqttTopic, !MQTTEndpoint.isUsable(topic: topic) { self.endpoint = nil }
        self.endpointExpiresAt = json["endpointExpiresAt"]?.int64.map { Timestamp(millisecondsSinceEpoch: $0) }
    }

    package var json: JSONValue {
        let (type, id) =
            switch self.principal {
            case .user(let id): ("user", id)
            case .thing(let id): ("thing", id)
            }
        return .object(present: [
            "version": AgentState.version, "appID": self.appID, "account": self.account, "principalType": type,
            "principalID": id, "accessToken": self.token.token.reveal(),
            "refreshToken": self.token.refreshToken?.reveal(),
            "expiresAt": self.token.expiresAt?.millisecondsSinceEpoch, "issuer": self.issuer,
            "installationID": self.installationID, "installationMembers": self.installationMembers,
            "formerInstallationIDs": self.formerInstallationIDs.isEmpty ? nil : self.formerInstallationIDs,
            "endpoint": self.endpoint?.stored, "endpointExpiresAt": self.endpointExpiresAt?.millisecondsSinceEpoch,
            "hasSession": self.hasSession, "lostSession": self.lostSession ? true : nil,
            "usesInboxFile": self.usesInboxFile ? true : nil,
            "usesWebSocket": self.usesWebSocket ? true : nil, "retained": self.retained?.json,
        ])
    }
}

// The inbox's counts tell whether it has lost anything since it stored the message.
extension RetainedMessage.Note {
    fileprivate init?(stored json: JSONValue) {
        guard let digest = json["digest"]?.string, let stored = json["stored"]?.int64, let lost = json["lost"]?.int64
        else { return nil }
        self.init(digest: digest, stored: stored, lost: lost)
    }

    fileprivate var json: JSONValue {
        .object([
            ("digest", JSONValue(self.digest)), ("stored", JSONValue(self.stored)), ("lost", JSONValue(self.lost)),
        ])
    }
}

// The file lacks the time to live, which counts from an answer; `endpointExpiresAt` has the moment of expiry instead.
extension MQTTEndpoint {
    fileprivate init(stored json: JSONReader<FileError>) throws(FileError) {
        self.init(
            installationID: try json.required("installationID").text(), host: try json.required("host").text(),
            portTCP: try json["portTCP"]?.integer(), portSSL: try json["portSSL"]?.integer(),
            mqttTopic: try json.required("mqttTopic").text(), username: try json.required("username").text(),
            password: Secret(try json.required("password").text()))
        self.portWS = try json["portWS"]?.integer()
        self.portWSS = try json["portWSS"]?.integer()
    }

    fileprivate var stored: JSONValue {
        .object(present: [
            "installationID": self.installationID, "host": self.host, "portTCP": self.portTCP.map { Int($0) },
            "portSSL": self.portSSL.map { Int($0) }, "portWS": self.portWS.map { Int($0) },
            "portWSS": self.portWSS.map { Int($0) }, "mqttTopic": self.mqttTopic, "username": self.username,
            "password": self.password.reveal(),
        ])
    }
}

extension FileError: JSONReaderError {
    package init(_ error: JSONMemberError, in path: String) { self = .malformed(path: path, reason: "\(error)") }
}
