import KiiPushCore

struct KiiFailure: Error {
    var status: Int
    var errorCode: String
    var message: String
    var context: JSONMembers
    var fields: [HTTPField]

    init(
        _ status: Int, _ errorCode: String, _ message: String,
        _ context: KeyValuePairs<String, (any JSONConvertible)?> = [:], fields: [HTTPField] = []
    ) {
        self.status = status
        self.errorCode = errorCode
        self.message = message
        self.context = JSONMembers(all: context)
        self.fields = fields
    }

    func about(_ members: JSONMembers) -> KiiFailure {
        var failure = self
        failure.context += members
        return failure
    }

    func retryAfter(_ seconds: Int64) -> KiiFailure {
        var failure = self.about([("retryAfter", JSONValue(seconds))])
        failure.fields.append(HTTPField("Retry-After", "\(seconds)"))
        return failure
    }

    /// The media type names the error: `application/vnd.kii.{Name}Exception+json`. A failed login instead has OAuth's
    /// form (RFC 6749 section 5.2), and repeats OAuth's code as `errorCode`.
    var response: HTTPResponse {
        let name = self.isOfOAuth ? nil : self.exceptionName
        return .json(self.status, name, .object(self.facts + self.context), fields: self.fields)
    }

    var facts: JSONMembers {
        let (code, message) = (self.errorCode, self.message)
        guard self.isOfOAuth else { return JSONMembers(all: ["errorCode": code, "message": message]) }
        return JSONMembers(all: ["errorCode": code, "error_description": message, "error": code])
    }

    private var isOfOAuth: Bool { ["invalid_grant", "invalid_client"].contains(self.errorCode) }

    private var exceptionName: String {
        if self.errorCode == "UNAUTHORIZED" { return "UnauthorizedAccessException" }
        let words = self.errorCode.split(separator: "_").map { word in
            // Kii writes `ACL` in capitals, but no other abbreviation.
            word == "ACL" ? word : word.prefix(1) + word.dropFirst().lowercased()
        }
        return words.joined() + "Exception"
    }
}

// MARK: - The request and the app

extension KiiFailure {
    static func invalidInput(_ message: String) -> KiiFailure { KiiFailure(400, "INVALID_INPUT_DATA", message) }

    static func mediaType(_ types: [String]) -> KiiFailure {
        .invalidInput("The Content-Type has to be one of \(types.joined(separator: ", ")).")
    }

    private static let close = HTTPField("Connection", "close")

    static func bodyTooLarge(limit: Int) -> KiiFailure {
        KiiFailure(413, "INVALID_INPUT_DATA", "The body is larger than \(limit) bytes.", fields: [KiiFailure.close])
    }

    /// RFC 9110 section 15.5.20.
    static let misdirected = KiiFailure(
        421, "OPERATION_NOT_ALLOWED", "The emulator is 127.0.0.1, localhost or [::1], and no other host.",
        fields: [KiiFailure.close])

    static let foreignOrigin = KiiFailure(
        403, "OPERATION_NOT_ALLOWED", "The emulator answers no page of another site.", fields: [KiiFailure.close])

    static func appNotFound(_ appID: String) -> KiiFailure {
        KiiFailure(404, "APP_NOT_FOUND", "The application was not found.", ["appID": appID])
    }

    static let appDisabled = KiiFailure(403, "APP_DISABLED", "The application is disabled.")
}

// MARK: - Credentials

extension KiiFailure {
    static let wrongToken = KiiFailure(
        403, "WRONG_TOKEN", "The token is not valid: it is unknown, expired or was replaced.")

    static let userDisabled = KiiFailure(401, "USER_DISABLED", "The user is disabled.")
    static let thingDisabled = KiiFailure(401, "THING_DISABLED", "The thing is disabled.")
    /// Kii's own words. They do not tell whether the name or the password is wrong.
    static let invalidGrant = KiiFailure(
        400, "invalid_grant", "The user was not found or a wrong password was provided")
    /// Kii's status is 400; the code is OAuth's (RFC 6749 section 5.2).
    static let invalidClient = KiiFailure(400, "invalid_client", "The client ID or the client secret is not correct")
}

// MARK: - Resources of the app

extension EmulatedCloud {
    func wrongPassword(principalID: String, address: String?) -> KiiFailure {
        KiiFailure(
            401, "WRONG_PASSWORD", "The password is not correct.",
            ["appID": self.appID, "principalID": principalID, "address": address])
    }

    func userNotFound(_ value: String, field: String = "userID") -> KiiFailure {
        KiiFailure(
            404, "USER_NOT_FOUND", "The user was not found.", ["field": field, "value": value, "appID": self.appID])
    }

    func groupNotFound(_ id: String) -> KiiFailure {
        KiiFailure(404, "GROUP_NOT_FOUND", "The group was not found.", ["groupID": id, "appID": self.appID])
    }

    func thingNotFound(_ value: String, field: String = "thingID") -> KiiFailure {
        KiiFailure(
            404, "THING_NOT_FOUND", "The thing was not found.", ["field": field, "value": value, "appID": self.appID])
    }

    func installationNotFound(
        id: String? = nil, deviceType: String? = nil, registrationID: String? = nil
    ) -> KiiFailure {
        KiiFailure(
            404, "INSTALLATION_NOT_FOUND", "The installation was not found.",
            [
                "installationID": id, "appID": self.appID, "installationRegistrationID": registrationID,
                "deviceType": deviceType,
            ])
    }
}

extension KiiFailure {
    static let endpointNotFound = KiiFailure(404, "MQTT_ENDPOINT_NOT_FOUND", "The installation is not for MQTT.")
}

// MARK: - The emulator itself

extension KiiFailure {
    static let brokerSilent = KiiFailure(
        503, "TEMPORARY_UNAVAILABLE_ERROR", "The broker does not answer. Nothing was changed; ask again.",
        fields: [HTTPField("Retry-After", "1")])

    /// This answer has no `Retry-After`. With one, clients would conclude that nothing was changed, and send the
    /// message again.
    static let brokerSilentAfterChange = KiiFailure(
        503, "TEMPORARY_UNAVAILABLE_ERROR",
        "The broker does not answer. What was asked for is done, and what was sent may still arrive.")

    static func faultProxyMissing(_ step: FaultStep) -> KiiFailure {
        KiiFailure(
            409, "FAULT_PROXY_MISSING",
            "Line \(step.line) of the script, `\(step.text)`, needs a proxy before the broker: start kii-push emulator with "
                + "--proxy or --script, or an Emulator with faultProxy.")
    }

    static let stateUnwritable = KiiFailure(
        503, "RESOURCE_TEMPORARILY_UNAVAILABLE",
        "The emulator cannot write its state; look at the free space of its directory.")
}
