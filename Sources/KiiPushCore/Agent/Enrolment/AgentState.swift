/// An agent's stored state: principal, token, installation and broker endpoint. It contains secrets.
///
/// If the state is lost, the agent obtains these four again from the cloud, except a pseudo user and its token.
package struct AgentState: Sendable, Hashable {
    var appID: String
    var account: String
    var principal: Principal
    var token: AccessToken
    /// The token's issuer (``KiiApp/tokenIssuer``). No other server gets the token.
    var issuer: String
    package var installationID: String?
    /// The members that the configuration adds to the installation. A new installation gets them again.
    var installationMembers: JSONValue?
    /// Earlier installations of this agent. The inbox may hold their unfinished messages.
    package var formerInstallationIDs: [String] = []
    package var endpoint: MQTTEndpoint?
    /// The endpoint's time of expiry; `nil` if the cloud gave no time to live.
    var endpointExpiresAt: Timestamp?
    /// Whether the broker has the agent's session, as far as the agent knows.
    package var hasSession = false
    /// Whether the agent lost a session because its topic or installation changed, and has not reported the loss yet.
    package var lostSession = false
    var retained: RetainedMessage.Note?
    /// Whether the agent's last run with this session had its inbox in a file. A run with the inbox in memory may have
    /// begun a new session that is unknown to the file.
    var usesInboxFile = false
    var usesWebSocket = false

    var wasRegistered: Bool { self.installationID != nil || !self.formerInstallationIDs.isEmpty }

    package func isOfSameOwner(as other: AgentState) -> Bool {
        self.principal == other.principal && self.account == other.account && self.issuer == other.issuer
    }

    package mutating func leaveInstallation() {
        if let id = self.installationID, !self.formerInstallationIDs.contains(id) {
            self.formerInstallationIDs.append(id)
        }
        self.installationID = nil
        self.leaveSession()
    }

    mutating func leaveSession() {
        self.lostSession = self.lostSession || self.hasSession
        self.hasSession = false
    }

    /// Takes what a new principal keeps from `former`, the agent's state under another principal: the installation's
    /// members, and the former installations, now with the last one. A session of `former` counts as lost.
    package mutating func follow(_ former: AgentState) {
        var former = former
        former.leaveInstallation()
        self.formerInstallationIDs = former.formerInstallationIDs
        self.installationMembers = former.installationMembers
        self.lostSession = former.lostSession
    }

    package var registration: Registration? {
        guard let installationID, let endpoint else { return nil }
        return Registration(
            principal: self.principal, installationID: installationID, host: endpoint.host, portTCP: endpoint.portTCP,
            portSSL: endpoint.portSSL, mqttTopic: endpoint.mqttTopic, installationMembers: self.installationMembers)
    }
}

// MARK: - The file's format

extension AgentState {
    /// A larger number makes the file unreadable for older versions of this library.
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
        // If the topic on file is unusable, the agent asks the cloud for another endpoint.
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

// The time to live counts from the cloud's answer, so the file has the moment of expiry instead (`endpointExpiresAt`).
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
