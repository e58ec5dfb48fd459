/// What Kii calls a refusal: the `errorCode` of an error's body.
///
/// Any text the server sends is kept. `Documentation/coverage.md` has every code of Kii's.
public struct KiiErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The code as the server spells it.
    public var rawValue: String

    /// Takes a code as the server spells it.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The code as the server spells it.
    public var description: String { self.rawValue }
}

// The codes that something here asks for, and with which status they come.
extension KiiErrorCode {
    // 400.
    package static let invalidJSON = Self(rawValue: "INVALID_JSON")
    package static let passwordTooShort = Self(rawValue: "PASSWORD_TOO_SHORT")

    // 401: who you are.
    /// The principal may not do this, or the token is not one.
    package static let unauthorized = Self(rawValue: "UNAUTHORIZED")
    /// There is no such user, or the password is wrong.
    package static let authenticationFailed = Self(rawValue: "AUTHENTICATION_FAILED")
    package static let wrongPassword = Self(rawValue: "WRONG_PASSWORD")
    package static let userDisabled = Self(rawValue: "USER_DISABLED")
    package static let thingDisabled = Self(rawValue: "THING_DISABLED")

    // 403.
    /// The access token is unknown or no longer valid.
    package static let wrongToken = Self(rawValue: "WRONG_TOKEN")
    /// The refresh token is unknown or was used before.
    package static let wrongRefreshToken = Self(rawValue: "WRONG_REFRESH_TOKEN")
    package static let appDisabled = Self(rawValue: "APP_DISABLED")
    /// The app does not have this feature.
    package static let operationNotSupported = Self(rawValue: "OPERATION_NOT_SUPPORTED")

    // 404: what is not there.
    /// No app has this ID at this site.
    package static let appNotFound = Self(rawValue: "APP_NOT_FOUND")
    package static let userNotFound = Self(rawValue: "USER_NOT_FOUND")
    package static let thingNotFound = Self(rawValue: "THING_NOT_FOUND")
    package static let groupNotFound = Self(rawValue: "GROUP_NOT_FOUND")
    package static let bucketNotFound = Self(rawValue: "BUCKET_NOT_FOUND")
    package static let objectNotFound = Self(rawValue: "OBJECT_NOT_FOUND")
    package static let objectBodyNotFound = Self(rawValue: "OBJECT_BODY_NOT_FOUND")
    /// The bucket has no such filter; Kii's answer for a missing bucket as well.
    package static let filterNotFound = Self(rawValue: "FILTER_NOT_FOUND")
    package static let topicNotFound = Self(rawValue: "TOPIC_NOT_FOUND")
    package static let pushSubscriptionNotFound = Self(rawValue: "PUSH_SUBSCRIPTION_NOT_FOUND")
    package static let installationNotFound = Self(rawValue: "INSTALLATION_NOT_FOUND")
    package static let mqttEndpointNotFound = Self(rawValue: "MQTT_ENDPOINT_NOT_FOUND")
    package static let aclNotFound = Self(rawValue: "ACL_NOT_FOUND")
    package static let gcmKeyNotFound = Self(rawValue: "GCMKEY_NOT_FOUND")
    package static let apnsKeyNotFound = Self(rawValue: "APNSKEY_NOT_FOUND")
    package static let jpushKeyNotFound = Self(rawValue: "JPUSHKEY_NOT_FOUND")

    // 409: what is there already, or stands in the way.
    /// The principal's state does not allow it, as a pseudo user cannot change a password.
    package static let operationNotAllowed = Self(rawValue: "OPERATION_NOT_ALLOWED")
    package static let userAlreadyExists = Self(rawValue: "USER_ALREADY_EXISTS")
    package static let thingAlreadyExists = Self(rawValue: "THING_ALREADY_EXISTS")
    package static let topicAlreadyExists = Self(rawValue: "TOPIC_ALREADY_EXISTS")
    package static let pushSubscriptionAlreadyExists = Self(rawValue: "PUSH_SUBSCRIPTION_ALREADY_EXISTS")
    /// The object is no longer in the version that was named.
    package static let objectVersionIsStale = Self(rawValue: "OBJECT_VERSION_IS_STALE")
    package static let aclAlreadyExists = Self(rawValue: "ACL_ALREADY_EXISTS")

    // 503: what the cloud cannot do now.
    /// The installation is there and its MQTT endpoint is still being made.
    package static let mqttEndpointNotReady = Self(rawValue: "MQTT_ENDPOINT_NOT_READY")
    package static let lockFailed = Self(rawValue: "LOCK_FAILED")
    package static let queryTimeout = Self(rawValue: "QUERY_TIMEOUT")
    package static let resourceTemporarilyUnavailable = Self(rawValue: "RESOURCE_TEMPORARILY_UNAVAILABLE")
    package static let temporaryUnavailableError = Self(rawValue: "TEMPORARY_UNAVAILABLE_ERROR")

    // Of this project's emulator, where none of Kii's is known: 405 and 429.
    package static let methodNotAllowed = Self(rawValue: "METHOD_NOT_ALLOWED")
    package static let tooManyRequests = Self(rawValue: "TOO_MANY_REQUESTS")
}
