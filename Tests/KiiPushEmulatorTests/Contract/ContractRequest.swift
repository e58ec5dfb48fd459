import Contract
import KiiPushCore
import KiiPushEmulator

struct ContractRequest: Sendable {
    enum Credentials: Sendable, Equatable {
        case none
        /// The app's ID and key in headers.
        case app
        /// `Bearer`.
        case token(String)
        /// `Basic` with the administrator's client ID and secret.
        case administrator
    }

    var variant: Variant
    /// The path's parameters, percent-encoded.
    var parameters: [String: String]
    /// The query, with its question mark.
    var query = ""
    var credentials: Credentials
    var fields: [HTTPField] = []
    var body: JSONValue?
    /// The body's bytes, if they differ from `body` as JSON.
    var bytes: [UInt8]?
    var mediaType: String?
    var people: People

    func incoming(to cloud: some CloudUnderTest, method: String? = nil, alsoAt: String? = nil) -> IncomingRequest {
        let endpoint = self.variant.endpoint
        let path = alsoAt ?? self.variant.path { self.parameters[$0] ?? ($0 == "app" ? cloud.appID : "missing-\($0)") }
        var fields: [HTTPField] = []
        if self.credentials != .none, endpoint.service != .emulator {
            fields += [HTTPField("X-Kii-AppID", cloud.appID), HTTPField("X-Kii-AppKey", cloud.appKey)]
        }
        switch self.credentials {
        case .none, .app: break
        case .token(let token): fields.append(HTTPField("Authorization", "Bearer \(token)"))
        case .administrator:
            let pair = Base64Text.encode("\(cloud.clientID):\(cloud.clientSecret)")
            fields.append(HTTPField("Authorization", "Basic \(pair)"))
        }
        fields += self.fields
        if let mediaType = self.mediaType { fields.append(HTTPField("Content-Type", mediaType)) }
        return IncomingRequest(
            method: method ?? endpoint.method,
            target: "/\(endpoint.service.rawValue)\(path)\(self.query)",
            fields: fields,
            body: self.bytes ?? self.written
        )
    }

    /// The body in its media type: a form, or JSON.
    private var written: [UInt8] {
        guard let body = self.body else { return [] }
        guard self.mediaType == "application/x-www-form-urlencoded" else { return body.serialized() }
        let pairs = (body.members ?? []).map { "\($0.key)=\($0.value.string ?? $0.value.text)" }
        return Array(pairs.joined(separator: "&").replacing(" ", with: "+").utf8)
    }
}

/// The accounts of a scenario: a user, a thing that the user owns, and a group with the user as a member.
struct People: Sendable {
    var user: CloudHarness.Account
    var userName: String
    var thing: CloudHarness.Account
    var vendorThingID: String
    var group: String
    var admin: String

    static let password = "pass word"
}
