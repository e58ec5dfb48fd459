/// What Kii calls a refusal: the `errorCode` of an error's body.
///
/// Any text the server sends is kept. The constants are the codes that a caller may want to tell apart;
/// `Documentation/coverage.md` has every code of Kii's.
public struct KiiErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The code as the server spells it.
    public var rawValue: String

    /// Takes a code as the server spells it.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The code as the server spells it.
    public var description: String { self.rawValue }
}

extension KiiErrorCode {
    /// 401: the principal may not do this, or the token is not one.
    package static let unauthorized = Self(rawValue: "UNAUTHORIZED")
    /// 400: no such user or thing, or the password is wrong.
    package static let invalidGrant = Self(rawValue: "invalid_grant")
    /// 400: no such client ID, or the client secret is wrong.
    package static let invalidClient = Self(rawValue: "invalid_client")
    /// 401: no such user, or the password is wrong.
    package static let authenticationFailed = Self(rawValue: "AUTHENTICATION_FAILED")
    /// 401: the password is wrong.
    package static let wrongPassword = Self(rawValue: "WRONG_PASSWORD")
    /// 401: the user has been disabled.
    package static let userDisabled = Self(rawValue: "USER_DISABLED")
    /// 401: the thing has been disabled.
    package static let thingDisabled = Self(rawValue: "THING_DISABLED")
    /// 403: the access token is unknown or no longer valid.
    package static let wrongToken = Self(rawValue: "WRONG_TOKEN")
    /// 403: the refresh token is unknown or was used before.
    package static let wrongRefreshToken = Self(rawValue: "WRONG_REFRESH_TOKEN")
    /// 403: the app has been disabled.
    package static let appDisabled = Self(rawValue: "APP_DISABLED")
    /// 403: the app does not have this feature.
    package static let operationNotSupported = Self(rawValue: "OPERATION_NOT_SUPPORTED")

    /// 404: no app has this ID at this site.
    package static let appNotFound = Self(rawValue: "APP_NOT_FOUND")
    /// 404: there is no such user.
    package static let userNotFound = Self(rawValue: "USER_NOT_FOUND")
    /// 404: there is no such thing.
    package static let thingNotFound = Self(rawValue: "THING_NOT_FOUND")
    /// 404: there is no such group.
    package static let groupNotFound = Self(rawValue: "GROUP_NOT_FOUND")
    /// 404: there is no such bucket.
    package static let bucketNotFound = Self(rawValue: "BUCKET_NOT_FOUND")
    /// 404: there is no such object.
    package static let objectNotFound = Self(rawValue: "OBJECT_NOT_FOUND")
    /// 404: the object has no body.
    package static let objectBodyNotFound = Self(rawValue: "OBJECT_BODY_NOT_FOUND")
    /// 404: the bucket has no such filter; Kii's answer for a missing bucket as well.
    package static let filterNotFound = Self(rawValue: "FILTER_NOT_FOUND")
    /// 404: there is no such topic.
    package static let topicNotFound = Self(rawValue: "TOPIC_NOT_FOUND")
    /// 404: the principal is not subscribed.
    package static let pushSubscriptionNotFound = Self(rawValue: "PUSH_SUBSCRIPTION_NOT_FOUND")
    /// 404: there is no such installation.
    package static let installationNotFound = Self(rawValue: "INSTALLATION_NOT_FOUND")
    /// 404: the installation has no MQTT endpoint.
    package static let mqttEndpointNotFound = Self(rawValue: "MQTT_ENDPOINT_NOT_FOUND")
    /// 404: there is no such access control entry.
    package static let aclNotFound = Self(rawValue: "ACL_NOT_FOUND")
    /// 404: there is no such target of commands.
    package static let targetNotFound = Self(rawValue: "TARGET_NOT_FOUND")
    /// 404: the target has no such command.
    package static let commandNotFound = Self(rawValue: "COMMAND_NOT_FOUND")
    /// 404: the app has no GCM key.
    package static let gcmKeyNotFound = Self(rawValue: "GCMKEY_NOT_FOUND")
    /// 404: the app has no APNs key.
    package static let apnsKeyNotFound = Self(rawValue: "APNSKEY_NOT_FOUND")
    /// 404: the app has no JPush key.
    package static let jpushKeyNotFound = Self(rawValue: "JPUSHKEY_NOT_FOUND")

    /// 409: the principal's state does not allow it, as a pseudo user cannot change a password.
    package static let operationNotAllowed = Self(rawValue: "OPERATION_NOT_ALLOWED")
    /// 409: a user has this name, address or number already.
    package static let userAlreadyExists = Self(rawValue: "USER_ALREADY_EXISTS")
    /// 409: a thing has this vendor thing ID already.
    package static let thingAlreadyExists = Self(rawValue: "THING_ALREADY_EXISTS")
    /// 409: the topic is there already.
    package static let topicAlreadyExists = Self(rawValue: "TOPIC_ALREADY_EXISTS")
    /// 409: the principal is subscribed already.
    package static let pushSubscriptionAlreadyExists = Self(rawValue: "PUSH_SUBSCRIPTION_ALREADY_EXISTS")
    /// 409: the object is no longer in the version that was named.
    package static let objectVersionIsStale = Self(rawValue: "OBJECT_VERSION_IS_STALE")
    /// 409: the access control entry is there already.
    package static let aclAlreadyExists = Self(rawValue: "ACL_ALREADY_EXISTS")

    /// 400: the body is not JSON.
    package static let invalidJSON = Self(rawValue: "INVALID_JSON")
    /// 400: the new password is too short.
    package static let passwordTooShort = Self(rawValue: "PASSWORD_TOO_SHORT")

    /// 503: the installation is there and its MQTT endpoint is still being made.
    package static let mqttEndpointNotReady = Self(rawValue: "MQTT_ENDPOINT_NOT_READY")
    /// 503: something is locked.
    package static let lockFailed = Self(rawValue: "LOCK_FAILED")
    /// 503: a query took too long.
    package static let queryTimeout = Self(rawValue: "QUERY_TIMEOUT")
    /// 503: a resource is not available for the moment.
    package static let resourceTemporarilyUnavailable = Self(rawValue: "RESOURCE_TEMPORARILY_UNAVAILABLE")
    /// 503: the cloud is not available for the moment.
    package static let temporaryUnavailableError = Self(rawValue: "TEMPORARY_UNAVAILABLE_ERROR")

    // Codes of this project, where none of Kii's is known.

    /// 405: the path does not have this method.
    package static let methodNotAllowed = Self(rawValue: "METHOD_NOT_ALLOWED")
    /// 429: the app makes too many requests. Kii's own clients look at the status alone.
    package static let tooManyRequests = Self(rawValue: "TOO_MANY_REQUESTS")
}
