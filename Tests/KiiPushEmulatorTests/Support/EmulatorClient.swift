import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

struct EmulatorClient: Sendable {
    let emulator: Emulator
    let port: UInt16

    init(_ emulator: Emulator) throws {
        self.emulator = emulator
        let authority = try #require(emulator.baseURL.split(separator: "/").dropFirst().first)
        self.port = try #require(authority.split(separator: ":").last.flatMap { UInt16($0) })
    }

    func call(
        _ method: String,
        _ path: String,
        token: String? = nil,
        type: String? = nil,
        _ body: JSONValue? = nil
    ) async throws -> RawAnswer {
        var fields = ["X-Kii-AppID: \(self.emulator.appID)", "X-Kii-AppKey: \(self.emulator.appKey.reveal())"]
        if let token { fields.append("Authorization: Bearer \(token)") }
        if let type { fields.append("Content-Type: application/vnd.kii.\(type)+json") }
        return try await RawHTTP.exchange(
            port: self.port,
            RawHTTP.request(method, "/api/apps/\(self.emulator.appID)/\(path)", fields, body?.text)
        )
    }

    /// A new pseudo user with an MQTT installation that the broker knows.
    func receiver() async throws -> Receiver {
        let user = try await self.call("POST", "users", type: "RegistrationAndAuthorizationRequest", [:])
        let token = try #require(user.json["_accessToken"]?.string)
        let userID = try #require(user.json["userID"]?.string)
        return try await self.receiver(userID: userID, token: token)
    }

    /// A new pseudo user's MQTT installation, without credentials at the broker yet.
    func installation() async throws -> (id: String, token: String) {
        let user = try await self.call("POST", "users", type: "RegistrationAndAuthorizationRequest", [:])
        let token = try #require(user.json["_accessToken"]?.string)
        let installation = try await self.call(
            "POST", "installations", token: token, type: "InstallationCreationRequest", ["deviceType": "MQTT"])
        return (try #require(installation.json["installationID"]?.string), token)
    }

    /// A new user who can log in again, with an MQTT installation that the broker knows.
    func receiver(named name: String) async throws -> Receiver {
        let body: JSONValue = ["loginName": JSONValue(name), "password": "secret"]
        let answer = try await self.call("POST", "users", type: "RegistrationRequest", body)
        try #require(answer.status == 201)
        return try await self.receiver(loggingInAs: name)
    }

    /// The receiver that ``receiver(named:)`` created at an earlier emulator.
    func receiver(loggingInAs name: String) async throws -> Receiver {
        let body: JSONValue = ["username": JSONValue(name), "password": "secret"]
        let login = try await self.call("POST", "oauth2/token", type: "OauthTokenRequest", body)
        return try await self.receiver(
            userID: try #require(login.json["id"]?.string),
            token: try #require(login.json["access_token"]?.string)
        )
    }

    func receiver(userID: String, token: String) async throws -> Receiver {
        let installation = try await self.call(
            "POST",
            "installations",
            token: token,
            type: "InstallationCreationRequest",
            ["deviceType": "MQTT", "development": false]
        )
        let id = try #require(installation.json["installationID"]?.string)
        let endpoint = try await self.call("GET", "installations/\(id)/mqtt-endpoint", token: token)
        #expect(endpoint.status == 200)
        return Receiver(
            userID: userID,
            token: token,
            installationID: id,
            topic: try #require(endpoint.json["mqttTopic"]?.string),
            username: try #require(endpoint.json["username"]?.string),
            password: try #require(endpoint.json["password"]?.string)
        )
    }

    func adminToken() async throws -> String {
        let answer = try await self.call(
            "POST",
            "oauth2/token",
            type: "OauthTokenRequest",
            [
                "client_id": JSONValue(self.emulator.adminClientID),
                "client_secret": JSONValue(self.emulator.adminClientSecret.reveal()),
            ]
        )
        return try #require(answer.json["access_token"]?.string)
    }

    /// A direct push of `{"n": number}`.
    func push(_ number: Int, to receiver: Receiver, admin: String) async throws -> RawAnswer {
        try await self.call(
            "POST",
            "users/\(receiver.userID)/push/messages",
            token: admin,
            type: "SendPushMessageRequest",
            ["data": ["n": JSONValue(number)], "mqtt": ["enabled": true]]
        )
    }
}

struct Receiver: Sendable {
    var userID: String
    var token: String
    var installationID: String
    var topic: String
    var username: String
    var password: String
}

struct Finished: Sendable {
    var status: Int32
    var output: String
    var errors: String
    var lines: [String] { self.output.split(separator: "\n").map { String($0) } }
}

func run(_ program: String, _ arguments: [String]) async throws -> Finished {
    let result = try await ForeignProgram([program] + arguments).run()
    return Finished(status: result.status, output: result.output, errors: result.errors)
}

/// `mosquitto_sub` and `mosquitto_pub` with a receiver's credentials.
struct Mosquitto: Sendable {
    let emulator: Emulator
    let receiver: Receiver

    private var login: [String] {
        ["-h", "127.0.0.1", "-u", self.receiver.username, "-P", self.receiver.password, "-V", "mqttv311"]
    }

    /// Opens a persistent session at the broker, as registration does.
    func openSession(alsoSubscribingTo others: [String] = []) async throws {
        let topics = ([self.receiver.topic] + others).flatMap { ["-t", $0] }
        let result = try await run("mosquitto_sub", self.login + self.session + topics + ["-E"])
        try #require(result.status == 0, "\(result.errors)")
    }

    func receive(_ count: Int, tls: Bool = false) async throws -> [JSONValue] {
        let result = try await run(
            "mosquitto_sub",
            self.login + self.session(tls: tls) + ["-t", self.receiver.topic, "-C", "\(count)", "-W", "600"]
        )
        try #require(result.status == 0, "\(result.errors)")
        return try result.lines.map { try JSONValue(parsing: $0) }
    }

    /// Runs `mosquitto_sub` as another client until the broker grants its subscription. Returns its exit status, which
    /// is the code of CONNACK if the broker refuses.
    func subscribe(to topic: String) async throws -> Int32 {
        try await run(
            "mosquitto_sub",
            self.login + ["-p", "\(self.emulator.mqttPort)", "-i", "other-\(self.receiver.username)"]
                + ["-t", topic, "-q", "1", "-E"]
        ).status
    }

    /// The result of ``subscribe(to:)`` if the broker does not know the credentials.
    static let notAuthorized: Int32 = 5

    func publish(_ text: String, to topic: String) async throws -> Finished {
        try await run(
            "mosquitto_pub",
            self.login + ["-p", "\(self.emulator.mqttPort)", "-i", "pub-\(self.receiver.username)"]
                + ["-t", topic, "-q", "1", "-m", text]
        )
    }

    private var session: [String] { self.session(tls: false) }

    private func session(tls: Bool) -> [String] {
        let address =
            tls
            ? ["-p", "\(self.emulator.mqttTLSPort)", "--cafile", self.emulator.certificateAuthorityFile]
            : ["-p", "\(self.emulator.mqttPort)"]
        // The client ID is the topic (Kii's guide to push over MQTT). `-c` keeps the session.
        return address + ["-i", self.receiver.topic, "-c", "-q", "1"]
    }
}
