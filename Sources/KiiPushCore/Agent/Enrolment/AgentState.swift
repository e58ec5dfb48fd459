/// What an agent remembers between runs: who it is, its token, its installation and the broker's endpoint.
///
/// It is kept in one JSON file of mode 0600 per agent. The file holds secrets, and nothing that the cloud could not
/// give again, except the token of a pseudo user.
package struct AgentState: Sendable, Hashable {
    /// The app that all of it belongs to.
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
    /// When the endpoint's time is up, and the cloud is to be asked for it again; `nil` when the cloud did not say.
    var endpointExpiresAt: Timestamp?
    /// Whether the broker has been asked to keep a session, so that its absence later on means a loss.
    package var hasSession = false
    /// Whether a session was left at the broker, with another topic or installation, and its loss has not been told yet.
    package var lostSession = false
    /// The topic's retained message, as ``RetainedMessage`` knows it again; `nil` where none was stored in the inbox file.
    var retained: RetainedMessage.Note?
    /// Whether the agent last used the session with its inbox in a file. A run with the inbox in memory writes nothing to
    /// the inbox file, which then cannot tell whether the broker still has the session that brought its rows. Where it is
    /// not known, as after a registration anew, it counts as not.
    var usesInboxFile = false
    /// Whether the last connection that stood was through a WebSocket, since the broker was not reached otherwise.
    var usesWebSocket = false

    /// Whether the agent has had an installation, and so has spoken with its cloud.
    var wasRegistered: Bool { self.installationID != nil || !self.formerInstallationIDs.isEmpty }

    /// Whether both belong to one user or thing, so that the token of the one serves the other.
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

    /// Notes that the broker's session is of no use any more: what it holds will not arrive.
    mutating func leaveSession() {
        self.lostSession = self.lostSession || self.hasSession
        self.hasSession = false
    }

    /// Takes over what does not depend on the principal from the state of the agent's former one.
    package mutating func follow(_ former: AgentState) {
        var former = former
        former.leaveInstallation()
        self.formerInstallationIDs = former.formerInstallationIDs
        self.installationMembers = former.installationMembers
        self.lostSession = former.lostSession
    }

    /// What may be told to anyone; `nil` while there is no installation or endpoint yet.
    package var registration: Registration? {
        guard let installationID, let endpoint else { return nil }
        return Registration(
            principal: self.principal, installationID: installationID, host: endpoint.host, portTCP: endpoint.portTCP,
            portSSL: endpoint.portSSL, mqttTopic: endpoint.mqttTopic, installationMembers: self.installationMembers)
    }
}

// MARK: - The file's format

extension AgentState {
    /// Raised when an older version of this library could not read the file any more.
    private static let version = 1

    /// Reads the file at ``JSONReader/document``.
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
        // One that an answer may not have is asked for anew.
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

// What the agent connects with. The time to live counts from an answer, and so is kept as the moment that it leads to.
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
