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
    /// Who issued the token, as ``KiiApp/tokenIssuer``; it is sent to nobody else. `nil` in a file of an earlier version.
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
    /// Whether the agent last used the session with its inbox in a file. A run with the inbox in memory writes nothing to
    /// the inbox file, which then cannot tell whether the broker still has the session that brought its rows. Where it is
    /// not known, as after a registration anew, it counts as not.
    var usesInboxFile = false

    /// Whether both belong to one user or thing, so that the token of the one serves the other.
    package func isOfSameOwner(as other: AgentState) -> Bool {
        self.principal == other.principal && self.account == other.account
            && (self.issuer == nil || other.issuer == nil || self.issuer == other.issuer)
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
            principal: self.principal,
            installationID: installationID,
            host: endpoint.host,
            portTCP: endpoint.portTCP,
            portSSL: endpoint.portSSL,
            mqttTopic: endpoint.mqttTopic,
            payload: self.payload
        )
    }
}

// MARK: - The file's format

extension AgentState {
    /// Raised when an older version of this library could not read the file any more.
    private static let version: Int64 = 1

    init(json: JSONValue) throws(AgentStateError) {
        guard let version = json["version"]?.int64 else { throw .missing("version") }
        guard version <= AgentState.version else { throw .newer(Int(version)) }
        let principalID = try json.required("principalID")
        let principal: Principal =
            switch try json.required("principalType") {
            case "user": .user(principalID)
            case "thing": .thing(principalID)
            default: throw .missing("principalType")
            }
        self.appID = try json.required("appID")
        self.account = try json.required("account")
        self.principal = principal
        self.token = AccessToken(
            principal: principal,
            token: Secret(try json.required("accessToken")),
            refreshToken: json["refreshToken"]?.string.map { Secret($0) },
            expiresAt: json["expiresAt"]?.int64.map { Timestamp(millisecondsSinceEpoch: $0) }
        )
        self.issuer = json["issuer"]?.string
        self.installationID = json["installationID"]?.string
        self.payload = json["payload"]?.string.flatMap { PayloadFormat(rawValue: $0) }
        self.formerInstallationIDs = json["formerInstallationIDs"]?.array?.compactMap(\.string) ?? []
        self.hasSession = json["hasSession"]?.bool ?? false
        self.lostSession = json["lostSession"]?.bool ?? false
        self.usesInboxFile = json["usesInboxFile"]?.bool ?? false
        self.endpoint = try json["endpoint"].map { value throws(AgentStateError) in try MQTTEndpoint(stored: value) }
        // One that an answer may not have is asked for anew.
        if let topic = self.endpoint?.mqttTopic, !MQTTEndpoint.isUsable(topic: topic) { self.endpoint = nil }
        self.endpointExpiresAt = json["endpointExpiresAt"]?.int64.map { Timestamp(millisecondsSinceEpoch: $0) }
    }

    package var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("version", JSONValue(integerLiteral: AgentState.version)),
            ("appID", JSONValue(self.appID)),
            ("account", JSONValue(self.account)),
        ]
        switch self.principal {
        case .user(let id): members += [("principalType", "user"), ("principalID", JSONValue(id))]
        case .thing(let id): members += [("principalType", "thing"), ("principalID", JSONValue(id))]
        }
        members.append(("accessToken", JSONValue(self.token.token.reveal())))
        if let refreshToken = self.token.refreshToken {
            members.append(("refreshToken", JSONValue(refreshToken.reveal())))
        }
        if let expiresAt = self.token.expiresAt {
            members.append(("expiresAt", JSONValue(integerLiteral: expiresAt.millisecondsSinceEpoch)))
        }
        if let issuer { members.append(("issuer", JSONValue(issuer))) }
        if let installationID { members.append(("installationID", JSONValue(installationID))) }
        if let payload { members.append(("payload", JSONValue(payload.rawValue))) }
        if !self.formerInstallationIDs.isEmpty {
            members.append(("formerInstallationIDs", JSONValue(self.formerInstallationIDs.map { JSONValue($0) })))
        }
        if let endpoint { members.append(("endpoint", endpoint.stored)) }
        if let end = self.endpointExpiresAt {
            members.append(("endpointExpiresAt", JSONValue(integerLiteral: end.millisecondsSinceEpoch)))
        }
        members.append(("hasSession", JSONValue(booleanLiteral: self.hasSession)))
        if self.lostSession { members.append(("lostSession", true)) }
        if self.usesInboxFile { members.append(("usesInboxFile", true)) }
        return .object(members)
    }
}

/// Why a file is no agent's state.
enum AgentStateError: Error {
    /// The member of this name is absent or of another type.
    case missing(String)
    /// A later version wrote it.
    case newer(Int)
}

// What the agent connects with. The time to live counts from an answer, and so is kept as the moment that it leads to.
extension MQTTEndpoint {
    fileprivate init(stored json: JSONValue) throws(AgentStateError) {
        func port(_ name: String) throws(AgentStateError) -> UInt16? {
            guard let value = json[name] else { return nil }
            guard let port = value.int64.flatMap({ UInt16(exactly: $0) }) else { throw .missing(name) }
            return port
        }
        self.init(
            installationID: try json.required("installationID"),
            host: try json.required("host"),
            portTCP: try port("portTCP"),
            portSSL: try port("portSSL"),
            mqttTopic: try json.required("mqttTopic"),
            username: try json.required("username"),
            password: Secret(try json.required("password"))
        )
    }

    fileprivate var stored: JSONValue {
        var members = [("installationID", JSONValue(self.installationID)), ("host", JSONValue(self.host))]
        if let port = self.portTCP { members.append(("portTCP", JSONValue(integerLiteral: Int64(port)))) }
        if let port = self.portSSL { members.append(("portSSL", JSONValue(integerLiteral: Int64(port)))) }
        return .object(
            members + [
                ("mqttTopic", JSONValue(self.mqttTopic)),
                ("username", JSONValue(self.username)),
                ("password", JSONValue(self.password.reveal())),
            ])
    }
}

extension JSONValue {
    fileprivate func required(_ name: String) throws(AgentStateError) -> String {
        guard let text = self[name]?.string else { throw .missing(name) }
        return text
    }
}
