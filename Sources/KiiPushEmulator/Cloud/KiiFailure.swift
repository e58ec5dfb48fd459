import KiiPushCore

/// A refusal in the words of Kii's cloud: a status, an `errorCode`, a message and what the error is about.
struct KiiFailure: Error {
    var status: Int
    var errorCode: String
    var message: String
    var context: [(String, JSONValue)] = []
    var fields: [HTTPField] = []

    /// A JSON object whose media type names the error: `application/vnd.kii.{Name}Exception+json`.
    var response: HTTPResponse {
        let facts: [(String, JSONValue)] = [
            ("errorCode", JSONValue(self.errorCode)), ("message", JSONValue(self.message)),
        ]
        let type = HTTPField("Content-Type", "application/vnd.kii.\(self.exceptionName)+json;charset=UTF-8")
        return HTTPResponse(
            status: self.status,
            fields: [type] + self.fields,
            body: JSONValue.object(facts + self.context).serialized()
        )
    }

    private var exceptionName: String {
        if self.errorCode == "UNAUTHORIZED" { return "UnauthorizedAccessException" }
        let words = self.errorCode.split(separator: "_").map { word in
            // The one abbreviation that Kii leaves in capitals.
            word == "ACL" ? word : word.prefix(1) + word.dropFirst().lowercased()
        }
        return words.joined() + "Exception"
    }
}

extension KiiFailure {
    static func invalidInput(_ message: String) -> KiiFailure {
        KiiFailure(status: 400, errorCode: "INVALID_INPUT_DATA", message: message)
    }

    /// A body of another media type than the call takes: `types`, all of them.
    static func mediaType(_ types: [String]) -> KiiFailure {
        .invalidInput("The Content-Type has to be one of \(types.joined(separator: ", ")).")
    }

    static func invalidJSON(_ error: JSONError) -> KiiFailure {
        KiiFailure(status: 400, errorCode: "INVALID_JSON", message: "The body is not JSON: \(error)")
    }

    static func bodyTooLarge(limit: Int) -> KiiFailure {
        KiiFailure(
            status: 413,
            errorCode: "INVALID_INPUT_DATA",
            message: "The body is larger than \(limit) bytes.",
            fields: [HTTPField("Connection", "close")]
        )
    }

    /// A request for another server's name, RFC 9110 section 15.5.20.
    static let misdirected = KiiFailure(
        status: 421,
        errorCode: "OPERATION_NOT_ALLOWED",
        message: "The emulator is 127.0.0.1, localhost or [::1], and no other host.",
        fields: [HTTPField("Connection", "close")]
    )

    static func pathNotFound(_ path: String) -> KiiFailure {
        KiiFailure(status: 404, errorCode: "RESOURCE_NOT_FOUND", message: "Nothing is at \(path).")
    }

    static func methodNotAllowed(_ method: String, allowed: [String]) -> KiiFailure {
        KiiFailure(
            status: 405,
            errorCode: "METHOD_NOT_ALLOWED",
            message: "\(method) is not possible here.",
            fields: [HTTPField("Allow", allowed.joined(separator: ", "))]
        )
    }

    static func appNotFound(_ appID: String) -> KiiFailure {
        KiiFailure(
            status: 404,
            errorCode: "APP_NOT_FOUND",
            message: "The application was not found.",
            context: [("appID", JSONValue(appID))]
        )
    }

    /// The app's switch of `PATCH /__kii/app`.
    static let appDisabled = KiiFailure(
        status: 403,
        errorCode: "APP_DISABLED",
        message: "The application is disabled."
    )

    /// Kii's code for this was not seen; the status was.
    static func tooManyRequests(retryAfter seconds: Int64) -> KiiFailure {
        KiiFailure(
            status: 429,
            errorCode: "TOO_MANY_REQUESTS",
            message: "The application makes too many requests.",
            context: [("retryAfter", JSONValue(seconds))],
            fields: [HTTPField("Retry-After", "\(seconds)")]
        )
    }

    static func unauthorized(_ message: String, app: String, caller: Caller?) -> KiiFailure {
        KiiFailure(
            status: 401,
            errorCode: "UNAUTHORIZED",
            message: message,
            context: [
                ("authenticatedAppID", JSONValue(app)),
                ("authenticatedPrincipalID", caller?.principal.map { JSONValue($0.id) } ?? .null),
            ]
        )
    }

    static let wrongToken = KiiFailure(
        status: 403,
        errorCode: "WRONG_TOKEN",
        message: "The token is not valid: it is unknown, expired or was replaced."
    )

    /// A password that is not the one of whom `address` names, written as in a login.
    static func wrongPassword(principalID: String, address: String?, app: String) -> KiiFailure {
        KiiFailure(
            status: 401,
            errorCode: "WRONG_PASSWORD",
            message: "The password is not correct.",
            context: [
                ("appID", JSONValue(app)), ("principalID", JSONValue(principalID)), ("address", .optional(address)),
            ]
        )
    }

    static func passwordTooShort(minimum: Int) -> KiiFailure {
        KiiFailure(
            status: 400,
            errorCode: "PASSWORD_TOO_SHORT",
            message: "The password has fewer than \(minimum) characters.",
            context: [("minimumLength", JSONValue(minimum))]
        )
    }

    static func operationNotAllowed(_ message: String) -> KiiFailure {
        KiiFailure(status: 409, errorCode: "OPERATION_NOT_ALLOWED", message: message)
    }

    static func operationNotSupported(_ message: String) -> KiiFailure {
        KiiFailure(status: 403, errorCode: "OPERATION_NOT_SUPPORTED", message: message)
    }

    static let userDisabled = KiiFailure(
        status: 401,
        errorCode: "USER_DISABLED",
        message: "The user is disabled."
    )

    static let thingDisabled = KiiFailure(
        status: 401,
        errorCode: "THING_DISABLED",
        message: "The thing is disabled."
    )

    static let authenticationFailed = KiiFailure(
        status: 401,
        errorCode: "AUTHENTICATION_FAILED",
        message: "The name or the password is not correct."
    )

    /// 404 for a principal, with `field` and `value` as Kii names what was looked for.
    static func userNotFound(field: String = "userID", value: String, app: String) -> KiiFailure {
        KiiFailure.principal("USER_NOT_FOUND", 404, "The user was not found.", field, value, app)
    }

    static func userExists(field: String, value: String, app: String) -> KiiFailure {
        KiiFailure.principal("USER_ALREADY_EXISTS", 409, "A user with this \(field) exists.", field, value, app)
    }

    static func thingNotFound(field: String = "thingID", value: String, app: String) -> KiiFailure {
        KiiFailure.principal("THING_NOT_FOUND", 404, "The thing was not found.", field, value, app)
    }

    static func thingExists(vendorThingID: String, app: String) -> KiiFailure {
        KiiFailure.principal(
            "THING_ALREADY_EXISTS",
            409,
            "A thing with this vendorThingID exists.",
            "vendorThingID",
            vendorThingID,
            app
        )
    }

    private static func principal(
        _ code: String,
        _ status: Int,
        _ message: String,
        _ field: String,
        _ value: String,
        _ app: String
    ) -> KiiFailure {
        KiiFailure(
            status: status,
            errorCode: code,
            message: message,
            context: [("field", JSONValue(field)), ("value", JSONValue(value)), ("appID", JSONValue(app))]
        )
    }

    static func groupNotFound(_ groupID: String, app: String) -> KiiFailure {
        KiiFailure(
            status: 404,
            errorCode: "GROUP_NOT_FOUND",
            message: "The group was not found.",
            context: [("groupID", JSONValue(groupID)), ("appID", JSONValue(app))]
        )
    }

    static func topicNotFound(_ topic: Topic, app: String) -> KiiFailure {
        KiiFailure(
            status: 404,
            errorCode: "TOPIC_NOT_FOUND",
            message: "The topic was not found.",
            context: [("topicID", JSONValue(topic.id)), ("objectScope", topic.scope.json(app: app))]
        )
    }

    static func topicExists(_ topic: Topic, app: String) -> KiiFailure {
        KiiFailure(
            status: 409,
            errorCode: "TOPIC_ALREADY_EXISTS",
            message: "The topic exists already.",
            context: [("topicID", JSONValue(topic.id)), ("objectScope", topic.scope.json(app: app))]
        )
    }

    /// The members that the path did not say are null.
    static func installationNotFound(
        id: String? = nil,
        deviceType: String? = nil,
        registrationID: String? = nil,
        app: String
    ) -> KiiFailure {
        KiiFailure(
            status: 404,
            errorCode: "INSTALLATION_NOT_FOUND",
            message: "The installation was not found.",
            context: [
                ("installationID", .optional(id)), ("appID", JSONValue(app)),
                ("installationRegistrationID", .optional(registrationID)), ("deviceType", .optional(deviceType)),
            ]
        )
    }

    static let endpointNotFound = KiiFailure(
        status: 404,
        errorCode: "MQTT_ENDPOINT_NOT_FOUND",
        message: "The installation is not for MQTT."
    )

    static func endpointNotReady(retryAfter seconds: Int64) -> KiiFailure {
        KiiFailure(
            status: 503,
            errorCode: "MQTT_ENDPOINT_NOT_READY",
            message: "The endpoint is not ready yet.",
            context: [("retryAfter", JSONValue(seconds))],
            fields: [HTTPField("Retry-After", "\(seconds)")]
        )
    }

    static let filterNotFound = KiiFailure(
        status: 404,
        errorCode: "FILTER_NOT_FOUND",
        message: "The bucket or its filter was not found."
    )

    static func subscriptionExists(_ record: SubscriptionRecord, app: String) -> KiiFailure {
        KiiFailure(
            status: 409,
            errorCode: "PUSH_SUBSCRIPTION_ALREADY_EXISTS",
            message: "The subscription exists already.",
            context: [
                record.target.name,
                ("objectScope", record.target.scope.json(app: app)),
                ("subject", JSONValue(record.subscriber.subject)),
            ]
        )
    }

    static let subscriptionNotFound = KiiFailure(
        status: 404,
        errorCode: "PUSH_SUBSCRIPTION_NOT_FOUND",
        message: "The subscription was not found."
    )

    /// Nothing was done, and so the sender is told when to ask again.
    static let brokerSilent = KiiFailure(
        status: 503,
        errorCode: "TEMPORARY_UNAVAILABLE_ERROR",
        message: "The broker does not answer. Nothing was changed; ask again.",
        fields: [HTTPField("Retry-After", "1")]
    )

    /// Without a time to wait: clients take one for the word that nothing was done, and would do it twice.
    static let brokerSilentAfterChange = KiiFailure(
        status: 503,
        errorCode: "TEMPORARY_UNAVAILABLE_ERROR",
        message: "The broker does not answer. What was asked for is done, and what was sent may still arrive."
    )

    static let stateUnwritable = KiiFailure(
        status: 503,
        errorCode: "RESOURCE_TEMPORARILY_UNAVAILABLE",
        message: "The emulator cannot write its state; look at the free space of its directory."
    )
}
