import KiiPushCore
import KiiPushEmulator
import Testing

/// Requests as existing clients of Kii put them on the wire, byte by byte.
///
/// The facts are from the sources of Kii's C clients (ebisu, KiiThingSDK) and of its Go client; the words are not.
struct WireClient {
    let emulator: EmulatorClient

    var appID: String { self.emulator.emulator.appID }
    var app: String { "/api/apps/\(self.appID)" }

    /// Sends a request of these lines and this body, and returns the answer.
    func send(_ lines: [String], _ body: String = "") throws -> RawAnswer {
        let connection = try RawConnection(port: self.emulator.port)
        try connection.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))
        let answer = try connection.receive(isHead: lines[0].hasPrefix("HEAD "))
        // For ebisu, the answer ends with the connection.
        if lines.contains("Connection: Close") { #expect(try connection.isClosedByPeer()) }
        return answer
    }

    /// Sends a request as ebisu does: the whole URL as the target, `HOST` in capitals, an invalid app key, and every
    /// body in chunks with a length beside. An empty body is the last chunk alone.
    func ebisu(
        _ method: String, _ path: String, token: String? = nil, type: String? = nil, fields: [String] = [],
        _ body: String = "", saysLength: Bool = false
    ) throws -> RawAnswer {
        var lines = ["\(method) https://localhost\(path) HTTP/1.1", "HOST: localhost"]
        lines += ["X-Kii-Appid: \(self.appID)", "X-Kii-Appkey: k"]
        if let token { lines.append("Authorization: Bearer \(token)") }
        if let type { lines.append("Content-Type: \(type)") }
        if saysLength { lines.append("Content-Length: \(body.utf8.count)") }
        lines += fields + ["Transfer-Encoding: chunked", "Connection: Close"]
        let chunk = body.isEmpty ? "" : "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n"
        return try self.send(lines, chunk + "0\r\n\r\n")
    }

    /// Sends a request as KiiThingSDK does: fields in lower case without spaces, `bearer` in lower case, and libcurl's
    /// defaults.
    func thingSDK(
        _ method: String, _ path: String, token: String? = nil, type: String? = nil, fields: [String] = [],
        _ body: String? = nil
    ) throws -> RawAnswer {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1", "Accept: */*"]
        lines += ["x-kii-appid:\(self.appID)", "x-kii-appkey:\(self.emulator.emulator.appKey.reveal())"]
        if let token { lines.append("authorization: bearer \(token)") }
        if let type { lines.append("content-type:\(type)") }
        lines += fields
        // libcurl sends a length and a type with every POST and PUT, even without a body.
        if method == "POST" || method == "PUT" {
            lines.append("Content-Length: \(body?.utf8.count ?? 0)")
            if type == nil { lines.append("Content-Type: application/x-www-form-urlencoded") }
        }
        return try self.send(lines, body ?? "")
    }

    /// The anonymous token, as kii_go gets it: the only credentials are in the body.
    func nobody() throws -> String {
        let key = self.emulator.emulator.appKey.reveal()
        let answer = try self.go(
            "POST", "\(self.app)/oauth2/token",
            #"{"client_id":"\#(self.appID)","client_secret":"\#(key)","grant_type":"client_credentials"}"#)
        try #require(answer.status == 200)
        return try #require(answer.json["access_token"]?.string)
    }

    /// Sends a request as kii_go does over Go's own client: with the token if there is one, and without the app's ID
    /// and key.
    func go(
        _ method: String, _ path: String, token: String? = nil, type: String = "application/json", _ body: String
    ) throws -> RawAnswer {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1", "User-Agent: Go-http-client/1.1"]
        if let token { lines.append("Authorization: Bearer \(token)") }
        lines += ["Content-Length: \(body.utf8.count)", "Content-Type: \(type)", "Accept-Encoding: gzip"]
        return try self.send(lines, body)
    }

    /// Sends a request below the app as Kii's SDKs for Unity, JavaScript and Java do: the app's fields, and the token
    /// if there is one.
    ///
    /// - Parameter type: the media type, or `{type}` of `application/vnd.kii.{type}+json`.
    func sdk(
        _ method: String, _ path: String, token: String? = nil, type: String? = nil, fields: [String] = [],
        _ body: JSONValue? = nil
    ) throws -> RawAnswer {
        var lines = ["\(method) \(self.app)/\(path) HTTP/1.1", "Host: 127.0.0.1", "X-Kii-AppID: \(self.appID)"]
        lines.append("X-Kii-AppKey: \(self.emulator.emulator.appKey.reveal())")
        if let token { lines.append("Authorization: Bearer \(token)") }
        if let type {
            lines.append("Content-Type: \(type.contains("/") ? type : "application/vnd.kii.\(type)+json")")
        }
        let text = body?.text ?? ""
        if method != "GET", method != "HEAD" { lines.append("Content-Length: \(text.utf8.count)") }
        return try self.send(lines + fields, text)
    }

    /// The answer to the administrator's login as the Java client makes it.
    func administrator() throws -> RawAnswer {
        let emulator = self.emulator.emulator
        let answer = try self.sdk(
            "POST", "oauth2/token", type: "application/json",
            [
                "grant_type": "client_credentials", "client_id": JSONValue(emulator.adminClientID),
                "client_secret": JSONValue(emulator.adminClientSecret.reveal()),
            ])
        try #require(answer.status == 200)
        return answer
    }

    /// A new user, registered with a name and a password; the token is from the registration.
    func user(_ name: String) throws -> (id: String, token: String) {
        let answer = try self.sdk(
            "POST", "users", type: "RegistrationAndAuthorizationRequest",
            ["loginName": JSONValue(name), "password": "secret"])
        return (
            try #require(answer.json["userID"]?.string), try #require(answer.json["_accessToken"]?.string)
        )
    }

    /// A new thing, registered as ebisu does.
    func thing() throws -> (id: String, token: String) {
        let answer = try self.ebisu(
            "POST", "\(self.app)/things",
            type: "application/vnd.kii.ThingRegistrationAndAuthorizationRequest+json",
            #"{"_vendorThingID":"test1", "_thingType":"light", "_password":"1234"}"#)
        try #require(answer.status == 201)
        return (
            try #require(answer.json["_thingID"]?.string), try #require(answer.json["_accessToken"]?.string)
        )
    }
}
