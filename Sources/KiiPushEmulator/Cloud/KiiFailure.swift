import KiiPushCore

/// A refusal in the words of Kii's cloud.
struct KiiFailure: Error {
    var status: Int
    var errorCode: String
    var message: String
    /// What the error is about: members of the body beside code and message.
    var context: [(String, JSONValue)]
    var fields: [HTTPField]

    init(
        _ status: Int, _ errorCode: String, _ message: String, _ context: [(String, JSONValue)] = [],
        fields: [HTTPField] = []
    ) {
        self.status = status
        self.errorCode = errorCode
        self.message = message
        self.context = context
        self.fields = fields
    }

    /// A JSON object whose media type names the error: `application/vnd.kii.{Name}Exception+json`.
    var response: HTTPResponse {
        let facts: [(String, JSONValue)] = [
            ("errorCode", JSONValue(self.errorCode)), ("message", JSONValue(self.message)),
        ]
        let type = HTTPField("Content-Type", "application/vnd.kii.\(self.exceptionName)+json;charset=UTF-8")
        let body = JSONValue.object(facts + self.context).serialized()
        return HTTPResponse(status: self.status, fields: [type] + self.fields, body: body)
    }

    private var exceptionName: String {
        if self.errorCode == "UNAUTHORIZED" { return "UnauthorizedAccessException" }
        let words = self.errorCode.split(separator: "_").map { word in
            // The one abbreviation that Kii leaves in capitals.
            word == "ACL" ? word : word.prefix(1) + word.dropFirst().lowercased()
        }
        return words.joined() + "Exception"
    }

    /// The same with a time to wait, in both places where Kii's clients look for it.
    func retryAfter(_ seconds: Int64) -> KiiFailure {
        var failure = self
        failure.context.append(("retryAfter", JSONValue(seconds)))
        failure.fields.append(HTTPField("Retry-After", "\(seconds)"))
        return failure
    }
}

// MARK: - The request and the app

extension KiiFailure {
    static func invalidInput(_ message: String) -> KiiFailure { KiiFailure(400, "INVALID_INPUT_DATA", message) }

    /// A body of another media type than the call takes: `types`, all of them.
    static func mediaType(_ types: [String]) -> KiiFailure {
        .invalidInput("The Content-Type has to be one of \(types.joined(separator: ", ")).")
    }

    static func invalidJSON(_ error: JSONError) -> KiiFailure {
        KiiFailure(400, "INVALID_JSON", "The body is not JSON: \(error)")
    }

    private static let close = HTTPField("Connection", "close")

    static func bodyTooLarge(limit: Int) -> KiiFailure {
        KiiFailure(413, "INVALID_INPUT_DATA", "The body is larger than \(limit) bytes.", fields: [KiiFailure.close])
    }

    /// A request for another server's name, RFC 9110 section 15.5.20.
    static let misdirected = KiiFailure(
        421, "OPERATION_NOT_ALLOWED", "The emulator is 127.0.0.1, localhost or [::1], and no other host.",
        fields: [KiiFailure.close])

    static func pathNotFound(_ path: String) -> KiiFailure {
        KiiFailure(404, "RESOURCE_NOT_FOUND", "Nothing is at \(path).")
    }

    static func methodNotAllowed(_ method: String, allowed: [String]) -> KiiFailure {
        let field = HTTPField("Allow", allowed.joined(separator: ", "))
        return KiiFailure(405, "METHOD_NOT_ALLOWED", "\(method) is not possible here.", fields: [field])
    }

    static func appNotFound(_ appID: String) -> KiiFailure {
        KiiFailure(404, "APP_NOT_FOUND", "The application was not found.", [("appID", JSONValue(appID))])
    }

    /// The app's switch of `PATCH /__kii/app`.
    static let appDisabled = KiiFailure(403, "APP_DISABLED", "The application is disabled.")

    /// Kii's code for this was not seen; the status was.
    static func tooManyRequests(retryAfter seconds: Int64) -> KiiFailure {
        KiiFailure(429, "TOO_MANY_REQUESTS", "The application makes too many requests.").retryAfter(seconds)
    }
}

// MARK: - Credentials

extension KiiFailure {
    static func unauthorized(_ message: String, app: String, caller: Caller?) -> KiiFailure {
        KiiFailure(
            401, "UNAUTHORIZED", message,
            [
                ("authenticatedAppID", JSONValue(app)),
                ("authenticatedPrincipalID", .optional(caller?.principal?.id)),
            ])
    }

    static let wrongToken = KiiFailure(
        403, "WRONG_TOKEN", "The token is not valid: it is unknown, expired or was replaced.")

    /// A password that is not the one of whom `address` names, written as in a login.
    static func wrongPassword(principalID: String, address: String?, app: String) -> KiiFailure {
        KiiFailure(
            401, "WRONG_PASSWORD", "The password is not correct.",
            [("appID", JSONValue(app)), ("principalID", JSONValue(principalID)), ("address", .optional(address))])
    }

    static func passwordTooShort(minimum: Int) -> KiiFailure {
        let message = "The password has fewer than \(minimum) characters."
        return KiiFailure(400, "PASSWORD_TOO_SHORT", message, [("minimumLength", JSONValue(minimum))])
    }

    static func operationNotAllowed(_ message: String) -> KiiFailure {
        KiiFailure(409, "OPERATION_NOT_ALLOWED", message)
    }

    static func operationNotSupported(_ message: String) -> KiiFailure {
        KiiFailure(403, "OPERATION_NOT_SUPPORTED", message)
    }

    static let userDisabled = KiiFailure(401, "USER_DISABLED", "The user is disabled.")
    static let thingDisabled = KiiFailure(401, "THING_DISABLED", "The thing is disabled.")
    static let authenticationFailed = KiiFailure(
        401, "AUTHENTICATION_FAILED", "The name or the password is not correct.")
}

// MARK: - What is not there, or is there already

extension KiiFailure {
    /// 404 for a principal, with `field` and `value` as Kii names what was looked for.
    static func userNotFound(field: String = "userID", value: String, app: String) -> KiiFailure {
        KiiFailure(404, "USER_NOT_FOUND", "The user was not found.").about(field, value, app)
    }

    static func userExists(field: String, value: String, app: String) -> KiiFailure {
        KiiFailure(409, "USER_ALREADY_EXISTS", "A user with this \(field) exists.").about(field, value, app)
    }

    static func thingNotFound(field: String = "thingID", value: String, app: String) -> KiiFailure {
        KiiFailure(404, "THING_NOT_FOUND", "The thing was not found.").about(field, value, app)
    }

    static func thingExists(vendorThingID: String, app: String) -> KiiFailure {
        KiiFailure(409, "THING_ALREADY_EXISTS", "A thing with this vendorThingID exists.")
            .about("vendorThingID", vendorThingID, app)
    }

    private func about(_ field: String, _ value: String, _ app: String) -> KiiFailure {
        var failure = self
        failure.context = [("field", JSONValue(field)), ("value", JSONValue(value)), ("appID", JSONValue(app))]
        return failure
    }

    static func groupNotFound(_ groupID: String, app: String) -> KiiFailure {
        let context = [("groupID", JSONValue(groupID)), ("appID", JSONValue(app))]
        return KiiFailure(404, "GROUP_NOT_FOUND", "The group was not found.", context)
    }

    static func topicNotFound(_ topic: Topic, app: String) -> KiiFailure {
        let context = SubscriptionTarget.topic(topic).fields(app: app)
        return KiiFailure(404, "TOPIC_NOT_FOUND", "The topic was not found.", context)
    }

    static func topicExists(_ topic: Topic, app: String) -> KiiFailure {
        let context = SubscriptionTarget.topic(topic).fields(app: app)
        return KiiFailure(409, "TOPIC_ALREADY_EXISTS", "The topic exists already.", context)
    }

    /// The members that the path did not say are null.
    static func installationNotFound(
        id: String? = nil, deviceType: String? = nil, registrationID: String? = nil, app: String
    ) -> KiiFailure {
        KiiFailure(
            404, "INSTALLATION_NOT_FOUND", "The installation was not found.",
            [
                ("installationID", .optional(id)), ("appID", JSONValue(app)),
                ("installationRegistrationID", .optional(registrationID)), ("deviceType", .optional(deviceType)),
            ])
    }

    static let endpointNotFound = KiiFailure(404, "MQTT_ENDPOINT_NOT_FOUND", "The installation is not for MQTT.")

    static func endpointNotReady(retryAfter seconds: Int64) -> KiiFailure {
        KiiFailure(503, "MQTT_ENDPOINT_NOT_READY", "The endpoint is not ready yet.").retryAfter(seconds)
    }

    static let filterNotFound = KiiFailure(404, "FILTER_NOT_FOUND", "The bucket or its filter was not found.")

    static func subscriptionExists(_ record: SubscriptionRecord, app: String) -> KiiFailure {
        let subject = ("subject", JSONValue(record.subscriber.subject))
        return KiiFailure(
            409, "PUSH_SUBSCRIPTION_ALREADY_EXISTS", "The subscription exists already.",
            record.target.fields(app: app) + [subject])
    }

    static let subscriptionNotFound = KiiFailure(
        404, "PUSH_SUBSCRIPTION_NOT_FOUND", "The subscription was not found.")
}

// MARK: - The emulator itself

extension KiiFailure {
    /// Nothing was done, and so the sender is told when to ask again.
    static let brokerSilent = KiiFailure(
        503, "TEMPORARY_UNAVAILABLE_ERROR", "The broker does not answer. Nothing was changed; ask again.",
        fields: [HTTPField("Retry-After", "1")])

    /// Without a time to wait: clients take one for the word that nothing was done, and would do it twice.
    static let brokerSilentAfterChange = KiiFailure(
        503, "TEMPORARY_UNAVAILABLE_ERROR",
        "The broker does not answer. What was asked for is done, and what was sent may still arrive.")

    static let stateUnwritable = KiiFailure(
        503, "RESOURCE_TEMPORARILY_UNAVAILABLE",
        "The emulator cannot write its state; look at the free space of its directory.")
}
