import KiiPushCore

/// A running `kii-push-emulator` as it is shipped.
final class EmulatorProcess {
    let child: ChildProcess
    let app: EmulatedApp
    let port: Int
    let brokerDirectory: String

    /// Starts an emulator whose runtime file is in `folder`, and creates the folder.
    init(program: String, folder: String) throws {
        guard try ChildProcess(["mkdir", "-p", "-m", "700", folder]).wait().succeeded else {
            throw ChildProcess.Failure(description: "cannot make \(folder)")
        }
        // `--quiet`: without it, the emulator would spend time on a log line for each request.
        self.child = try ChildProcess(
            [program, "--json", "--quiet"],
            environment: ["XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": folder])
        guard self.child.nextLine() != nil else { throw ChildProcess.Failure(description: "the emulator ended") }
        let description = try JSONValue(parsing: try readFile("\(folder)/kii-push/emulator.json"))
        guard let baseURL = description["baseURL"]?.string, let appID = description["appID"]?.string,
            let port = baseURL.split(separator: ":").last?.split(separator: "/").first.flatMap({ Int($0) }),
            let authority = description["caFile"]?.string
        else { throw ChildProcess.Failure(description: "the emulator does not say where it is") }
        self.app = EmulatedApp(baseURL: baseURL, appID: appID, credentials: description, loop: try EventLoop())
        self.port = port
        self.brokerDirectory = authority.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
    }
}

struct EmulatedApp: Sendable {
    fileprivate let baseURL: String
    fileprivate let appID: String
    fileprivate let credentials: JSONValue
    fileprivate let loop: EventLoop

    func path(_ resource: String) -> String { "/api/apps/\(self.appID)/\(resource)" }

    func administrator() async throws -> String {
        let answer = try await self.call(
            "POST",
            "oauth2/token",
            type: "OauthTokenRequest",
            .object([
                ("client_id", self.credentials["clientID"] ?? .null),
                ("client_secret", self.credentials["clientSecret"] ?? .null),
            ])
        )
        return try self.text(answer, "access_token")
    }

    func user() async throws -> (id: String, token: String) {
        let answer = try await self.call("POST", "users", type: "RegistrationAndAuthorizationRequest", [:])
        return (try self.text(answer, "userID"), try self.text(answer, "_accessToken"))
    }

    /// A new MQTT installation of the token's owner.
    func installation(token: String) async throws -> String {
        let answer = try await self.call(
            "POST",
            "installations",
            token: token,
            type: "InstallationCreationRequest",
            ["deviceType": "MQTT"]
        )
        return try self.text(answer, "installationID")
    }

    /// Makes a call and requires success.
    @discardableResult
    func call(
        _ method: String,
        _ resource: String,
        token: String? = nil,
        type: String? = nil,
        _ body: JSONValue? = nil
    ) async throws -> JSONValue {
        var fields = [
            HTTPField("X-Kii-AppID", self.appID), HTTPField("X-Kii-AppKey", try self.text(self.credentials, "appKey")),
        ]
        if let token { fields.append(HTTPField("Authorization", "Bearer \(token)")) }
        if let type { fields.append(HTTPField("Content-Type", "application/vnd.kii.\(type)+json")) }
        let request = HTTPRequest(
            method: method,
            url: "\(self.baseURL)/apps/\(self.appID)/\(resource)",
            fields: fields,
            body: body?.serialized() ?? (method == "GET" ? nil : [])
        )
        let answer = try await self.loop.perform(request)
        guard (200..<300).contains(answer.status) else {
            throw ChildProcess.Failure(description: "\(method) \(resource) was answered with \(answer.status)")
        }
        return answer.body.isEmpty ? .null : try JSONValue(parsing: answer.body)
    }

    private func text(_ value: JSONValue, _ key: String) throws -> String {
        guard let text = value[key]?.string else { throw ChildProcess.Failure(description: "no \(key) in an answer") }
        return text
    }
}
