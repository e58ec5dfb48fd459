import Foundation
import Glibc
import KiiPushCore
import TestSupport
import Testing

/// A strict emulator that the tool treats as a remote cloud, and a profile for each fault.
final class DoctorWorld {
    let session: EmulatorSession
    let tool: Tool
    let file: JSONValue
    private let key: String
    private let appID: String
    /// A copy of the emulator's authority that every user may read. The emulator does not remove it.
    private let authority: String

    init() throws {
        self.session = try EmulatorSession(options: ["--strict"])
        self.tool = self.session.tool
        self.file = try self.session.runtimeFile()
        self.key = try self.tool.write(try #require(self.file["appKey"]?.string), to: "key")
        self.appID = try #require(self.file["appID"]?.string)
        let made = try String(contentsOfFile: try #require(self.file["caFile"]?.string), encoding: .utf8)
        self.authority = try self.tool.write(made, to: "ca.pem", mode: 0o644)
    }

    var baseURL: String { self.file["baseURL"]?.string ?? "" }

    func directory(_ profile: String) -> String { self.tool.home.path + "/state/kii-push/profiles/\(profile)" }

    func register(_ profile: String) throws {
        let words = [
            "register", "-p", profile, "--base-url", self.baseURL, "--app-id", self.appID, "--app-key-file", self.key,
            "--cacert", self.authority,
        ]
        let result = try self.tool.start(words).waitForExit()
        try #require(result.exit == 0, "\(result.error)")
    }

    /// Moves a profile to the cloud at this address, as if it had registered there. That cloud then gets the profile's
    /// tokens.
    func move(_ profile: String, to baseURL: String) throws {
        let (old, new) = (try #require(Origin(of: self.baseURL)), try #require(Origin(of: baseURL)))
        for (name, from, to) in [
            ("profile.json", self.baseURL, baseURL), ("agents/default.json", old.description, new.description),
        ] {
            let path = self.directory(profile) + "/" + name
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try #require(text.contains(from))
            // Overwritten in place, so that the file keeps its mode.
            try Data(text.replacingOccurrences(of: from, with: to).utf8).write(to: URL(filePath: path))
            try #require(chmod(path, 0o600) == 0)
        }
    }

    /// The report of `doctor`, with a long limit for a busy machine. If the options name a `--base-url`, the profile is
    /// first moved there.
    func doctor(
        _ profile: String, _ options: [String] = [], environment: [String: String] = [:], time: String = "600s",
        trusting: Bool = true, as user: UInt32? = nil
    ) throws -> Report {
        if let index = options.firstIndex(of: "--base-url") { try self.move(profile, to: options[index + 1]) }
        let words =
            ["doctor", "--json", "--timeout", time, "-p", profile] + options
            + (trusting && !options.contains("--cacert") ? ["--cacert", self.authority] : [])
        let drop = user.map { ["setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups"] } ?? []
        let run = try RunningTool(
            drop + [Tool.executable.path] + words, environment: self.tool.environment.merging(environment) { $1 })
        return try Report(run.waitForExit())
    }

    func state(_ profile: String) throws -> JSONValue {
        let path = self.directory(profile) + "/agents/default.json"
        return try JSONValue(parsing: [UInt8](Data(contentsOf: URL(filePath: path))))
    }

    /// A cloud that knows the profile and names the broker. `change` modifies the endpoint's members.
    func cloud(
        for profile: String, date: Date? = nil, endpoint change: (inout [String: JSONValue]) -> Void = { _ in }
    ) throws -> FakeCloud {
        let state = try self.state(profile)
        let installation = state["installationID"]?.string ?? ""
        var endpoint: [String: JSONValue] = [:]
        for name in ["installationID", "host", "portSSL", "mqttTopic", "username", "password"] {
            endpoint[name] = state["endpoint"]?[name]
        }
        change(&endpoint)
        let answers: [(end: String, body: JSONValue)] = [
            ("/oauth2/token", ["access_token": "token", "id": "app", "expires_in": 3600]),
            ("/users/me", ["userID": state["principalID"] ?? ""]),
            ("/installations/\(installation)", ["installationID": JSONValue(installation), "deviceType": "MQTT"]),
            ("/mqtt-endpoint", .object(endpoint.map { ($0.key, $0.value) })),
            ("/push/messages", ["pushMessageID": "m1"]),
        ]
        let field = date.map { ["Date: " + Self.httpDate($0)] } ?? []
        return try FakeCloud { request in
            guard let body = answers.first(where: { request.path.hasSuffix($0.end) })?.body else {
                return FakeCloud.Answer(status: 404, fields: field)
            }
            let text = String(decoding: body.serialized(), as: UTF8.self)
            return FakeCloud.Answer(status: 200, fields: field, body: text)
        }
    }

    private static func httpDate(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }

    func deadPort() throws -> UInt16 {
        let (descriptor, port) = try Loopback.bound()
        close(descriptor)
        return port
    }

    func deleteInstallation(_ profile: String) async throws {
        let key = Secret(try #require(self.file["appKey"]?.string))
        let client = KiiClient(
            app: KiiApp(appID: self.appID, appKey: key, baseURL: self.baseURL), transport: try EventLoop.patient(),
            timeout: .seconds(600))
        let admin = try await client.login(
            .administrator(
                clientID: try #require(self.file["clientID"]?.string),
                clientSecret: Secret(try #require(self.file["clientSecret"]?.string))))
        let id = try #require(try self.state(profile)["installationID"]?.string)
        try await client.session(admin.token).deleteInstallation(.id(id))
    }
}
