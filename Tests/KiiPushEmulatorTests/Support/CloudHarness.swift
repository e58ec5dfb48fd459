import Foundation
import KiiPushCore
import KiiPushEmulator
import SeededNumbers
import Testing

/// A cloud without sockets, with a clock that the test sets and with the same random names in every run.
struct CloudHarness {
    static let start = Timestamp(millisecondsSinceEpoch: 1_700_000_000_000)

    let cloud: EmulatedCloud
    var now = CloudHarness.start
    let app: AppIdentity
    /// The changes that the cloud would write to disk.
    var changes: [StateChange] = []

    init(
        strict: Bool = false, endpointDelay: Duration = .zero, state: CloudState = CloudState(),
        hasFaultProxy: Bool = false, servesWebSocket: Bool = true
    ) {
        var identifiers = Identifiers(generator: SeededGenerator(seed: 42))
        self.app = AppIdentity(identifiers: &identifiers)
        let settings = EmulatedCloud.Settings(
            app: self.app,
            brokerPorts: BrokerPorts(
                tcp: 4001, tls: 4002, webSocket: servesWebSocket ? 4003 : 0, webSocketTLS: servesWebSocket ? 4004 : 0),
            isStrict: strict,
            baseURL: "http://127.0.0.1:4000/api",
            hasFaultProxy: hasFaultProxy
        )
        var app = AppSettings()
        app.endpointDelay = endpointDelay
        self.cloud = EmulatedCloud(settings: settings, app: app, state: state, identifiers: identifiers)
    }

    /// Sends a request below `/api` as it is.
    mutating func raw(_ method: String, _ path: String, _ fields: [HTTPField], _ body: String = "") -> Outcome {
        self.send(method, "/api" + path, fields, body)
    }

    /// Sends a control below `/__kii` as the administrator.
    @discardableResult
    mutating func control(_ method: String, _ path: String, _ body: JSONValue? = nil) -> Outcome {
        let pair = "\(self.app.clientID):\(self.app.clientSecret.reveal())"
        let basic = HTTPField("Authorization", "Basic \(Data(pair.utf8).base64EncodedString())")
        return self.send(method, "/__kii/" + path, [basic], body?.text ?? "")
    }

    mutating func send(_ method: String, _ target: String, _ fields: [HTTPField], _ body: String) -> Outcome {
        let request = IncomingRequest(
            method: method,
            target: target,
            fields: fields,
            body: Array(body.utf8)
        )
        let reply = self.cloud.respond(to: request, now: self.now)
        self.changes += reply.effects.changes
        self.cloud.commit(reply.effects)
        return Outcome(reply)
    }

    /// Sends a request below the app, with `token` or else the app's ID and key.
    @discardableResult
    mutating func call(
        _ method: String,
        _ path: String,
        token: String? = nil,
        type: String? = nil,
        _ body: JSONValue? = nil
    ) -> Outcome {
        var fields = [HTTPField("X-Kii-AppID", self.app.appID), HTTPField("X-Kii-AppKey", self.app.appKey.reveal())]
        if let token { fields.append(HTTPField("Authorization", "Bearer \(token)")) }
        if let type { fields.append(HTTPField("Content-Type", "application/vnd.kii.\(type)+json")) }
        return self.raw(method, "/apps/\(self.app.appID)/\(path)", fields, body?.text ?? "")
    }

    // MARK: - Accounts

    struct Account {
        var id: String
        var token: String
    }

    mutating func user(_ name: String = "") throws -> Account {
        let body: JSONValue = name.isEmpty ? [:] : ["displayName": JSONValue(name)]
        let outcome = self.call("POST", "users", type: "RegistrationAndAuthorizationRequest", body)
        return Account(
            id: try #require(outcome.json["userID"]?.string),
            token: try #require(outcome.json["_accessToken"]?.string)
        )
    }

    mutating func thing(_ name: String = "lamp-1") throws -> Account {
        let outcome = self.call(
            "POST",
            "things",
            type: "ThingRegistrationAndAuthorizationRequest",
            ["_vendorThingID": JSONValue(name), "_password": "secret"]
        )
        return Account(
            id: try #require(outcome.json["_thingID"]?.string),
            token: try #require(outcome.json["_accessToken"]?.string)
        )
    }

    mutating func admin() throws -> String {
        let outcome = self.call(
            "POST",
            "oauth2/token",
            type: "OauthTokenRequest",
            [
                "client_id": JSONValue(self.app.clientID),
                "client_secret": JSONValue(self.app.clientSecret.reveal()),
            ]
        )
        return try #require(outcome.json["access_token"]?.string)
    }

    mutating func group(of owner: Account, members: [Account]) throws -> String {
        let outcome = self.call(
            "POST",
            "groups",
            token: owner.token,
            type: "GroupCreationRequest",
            ["name": "team", "members": JSONValue(members.map { JSONValue($0.id) })]
        )
        return try #require(outcome.json["groupID"]?.string)
    }

    /// Creates an MQTT installation and returns its ID and MQTT topic.
    mutating func installation(
        of account: Account,
        development: Bool = false
    ) throws -> (id: String, topic: String) {
        let outcome = self.call(
            "POST",
            "installations",
            token: account.token,
            type: "InstallationCreationRequest",
            ["deviceType": "MQTT", "development": JSONValue(development)]
        )
        let id = try #require(outcome.json["installationID"]?.string)
        let endpoint = self.call("GET", "installations/\(id)/mqtt-endpoint", token: account.token)
        return (id, try #require(endpoint.json["mqttTopic"]?.string))
    }
}

struct Outcome {
    /// The response; without one, a response of status 0.
    let response: HTTPResponse
    let effects: EmulatedCloud.Effects
    /// Whether the connection is closed without an answer.
    let isUnanswered: Bool

    init(_ reply: EmulatedCloud.Reply) {
        self.response = reply.response ?? HTTPResponse(status: 0)
        self.isUnanswered = reply.response == nil
        self.effects = reply.effects
    }

    var status: Int { self.response.status }

    /// The body as JSON; null if it is none.
    var json: JSONValue { (try? JSONValue(parsing: self.response.body)) ?? .null }

    /// The media type without its parameters.
    var type: String? { self.response.field("Content-Type").map { String($0.prefix { $0 != ";" }) } }

    /// Status and `errorCode` in one string, for comparisons.
    var refusal: String { "\(self.status) \(self.json["errorCode"]?.string ?? "")" }

    /// The published messages: MQTT topic and payload.
    var published: [(topic: String, payload: JSONValue)] {
        self.effects.publications.map { ($0.topic, (try? JSONValue(parsing: $0.payload)) ?? .null) }
    }
}

/// Expects the status, code and media type of a refusal in Kii's form, or of a login in OAuth's form.
func expectRefusal(_ outcome: Outcome, _ refusal: String, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(outcome.refusal == refusal, sourceLocation: sourceLocation)
    let isOfOAuth = refusal.hasPrefix("400 invalid_")
    let words = outcome.json[isOfOAuth ? "error_description" : "message"]
    #expect(words?.string?.isEmpty == false, sourceLocation: sourceLocation)
    let (start, end) = isOfOAuth ? ("application/json", "") : ("application/vnd.kii.", "Exception+json")
    #expect(outcome.type?.hasPrefix(start) == true, sourceLocation: sourceLocation)
    #expect(outcome.type?.hasSuffix(end) == true, sourceLocation: sourceLocation)
    #expect(outcome.effects == EmulatedCloud.Effects(), sourceLocation: sourceLocation)
}
