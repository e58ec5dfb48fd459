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
    /// Who issued the token, as ``KiiApp/tokenIssuer``; it is sent to nobody else.
    var issuer: String?
    package var installationID: String?
    /// How pushes are to be written; `nil` where nothing was said about it. It outlives the installation.
    var payload: PayloadFormat?
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
        self.payload = former.payload
        self.lostSession = former.lostSession
    }

    /// What may be told to anyone; `nil` while there is no installation or endpoint yet.
    package var registration: Registration? {
        guard let installationID, let endpoint else { return nil }
        return Registration(
            principal: self.principal, installationID: installationID, host: endpoint.host, portTCP: endpoint.portTCP,
            portSSL: endpoint.portSSL, mqttTopic: endpoint.mqttTopic, payload: self.payload)
    }
}

// MARK: - The file's format

extension AgentState {
    /// Raised when an older version of this library could not read the file any more.
    private static let version: Int64 = 1

    /// Takes what the file at `path` holds.
    init(json: JSONValue, path: String) throws(FileError) {
        guard let version = json["version"]?.int64 else { throw .missing("version", in: path) }
        guard version <= AgentState.version else { throw .newerFormat(path: path, version: Int(version)) }
        let principalID = try json.required("principalID", in: path)
        let principal: Principal =
            switch try json.required("principalType", in: path) {
            case "user": .user(principalID)
            case "thing": .thing(principalID)
            default: throw .missing("principalType", in: path)
            }
        self.appID = try json.required("appID", in: path)
        self.account = try json.required("account", in: path)
        self.principal = principal
        self.token = AccessToken(
            principal: principal, token: Secret(try json.required("accessToken", in: path)),
            refreshToken: json["refreshToken"]?.string.map { Secret($0) },
            expiresAt: json["expiresAt"]?.int64.map { Timestamp(millisecondsSinceEpoch: $0) })
        self.issuer = try json.required("issuer", in: path)
        self.installationID = json["installationID"]?.string
        self.payload = json["payload"]?.string.flatMap { PayloadFormat(rawValue: $0) }
        self.formerInstallationIDs = json["formerInstallationIDs"]?.array?.compactMap(\.string) ?? []
        self.hasSession = json["hasSession"]?.bool ?? false
        self.lostSession = json["lostSession"]?.bool ?? false
        self.usesInboxFile = json["usesInboxFile"]?.bool ?? false
        self.retained = json["retained"].flatMap(RetainedMessage.Note.init(stored:))
        self.endpoint = try json["endpoint"].map { value throws(FileError) in
            try MQTTEndpoint(stored: value, path: path)
        }
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
            "installationID": self.installationID, "payload": self.payload?.rawValue,
            "formerInstallationIDs": self.formerInstallationIDs.isEmpty ? nil : self.formerInstallationIDs,
            "endpoint": self.endpoint?.stored, "endpointExpiresAt": self.endpointExpiresAt?.millisecondsSinceEpoch,
            "hasSession": self.hasSession, "lostSession": self.lostSession ? true : nil,
            "usesInboxFile": self.usesInboxFile ? true : nil, "retained": self.retained?.json,
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
    fileprivate init(stored json: JSONValue, path: String) throws(FileError) {
        func port(_ name: String) throws(FileError) -> UInt16? {
            guard let value = json[name] else { return nil }
            guard let port = value.int64.flatMap({ UInt16(exactly: $0) }) else { throw .missing(name, in: path) }
            return port
        }
        func text(_ name: String) throws(FileError) -> String { try json.required(name, in: path) }
        self.init(
            installationID: try text("installationID"), host: try text("host"), portTCP: try port("portTCP"),
            portSSL: try port("portSSL"), mqttTopic: try text("mqttTopic"), username: try text("username"),
            password: Secret(try text("password")))
    }

    fileprivate var stored: JSONValue {
        .object(present: [
            "installationID": self.installationID, "host": self.host, "portTCP": self.portTCP.map { Int($0) },
            "portSSL": self.portSSL.map { Int($0) }, "mqttTopic": self.mqttTopic, "username": self.username,
            "password": self.password.reveal(),
        ])
    }
}

extension JSONValue {
    fileprivate func required(_ name: String, in path: String) throws(FileError) -> String {
        guard let text = self[name]?.string else { throw .missing(name, in: path) }
        return text
    }
}

extension FileError {
    /// The member of this name is absent or of another type.
    fileprivate static func missing(_ name: String, in path: String) -> FileError {
        .malformed(path: path, reason: "no \(name)")
    }
}
