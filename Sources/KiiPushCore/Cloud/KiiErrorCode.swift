/// The error codes of Kii that the library distinguishes, in the server's spelling. `Documentation/coverage.md` lists
/// every code.
package enum KiiErrorCode {
    /// 401: the principal may not do this, or the token is invalid.
    package static let unauthorized = "UNAUTHORIZED"
    /// 400: no such user or thing, or the password is wrong.
    package static let invalidGrant = "invalid_grant"
    /// 400: no such client ID, or the client secret is wrong.
    package static let invalidClient = "invalid_client"
    /// 401: no such user, or the password is wrong.
    package static let authenticationFailed = "AUTHENTICATION_FAILED"
    /// 401: the password is wrong.
    package static let wrongPassword = "WRONG_PASSWORD"
    /// 401: the user has been disabled.
    package static let userDisabled = "USER_DISABLED"
    /// 401: the thing has been disabled.
    package static let thingDisabled = "THING_DISABLED"
    /// 403: the access token is unknown or no longer valid.
    package static let wrongToken = "WRONG_TOKEN"
    /// 403: the refresh token is unknown or was used before.
    package static let wrongRefreshToken = "WRONG_REFRESH_TOKEN"
    /// 403: the app has been disabled.
    package static let appDisabled = "APP_DISABLED"

    // Status 404
    /// No app has this ID at this site.
    package static let appNotFound = "APP_NOT_FOUND"
    package static let userNotFound = "USER_NOT_FOUND"
    package static let thingNotFound = "THING_NOT_FOUND"
    package static let groupNotFound = "GROUP_NOT_FOUND"
    package static let bucketNotFound = "BUCKET_NOT_FOUND"
    package static let objectNotFound = "OBJECT_NOT_FOUND"
    /// The bucket has no such filter; also Kii's answer for a missing bucket.
    package static let filterNotFound = "FILTER_NOT_FOUND"
    package static let topicNotFound = "TOPIC_NOT_FOUND"
    /// The principal is not subscribed.
    package static let pushSubscriptionNotFound = "PUSH_SUBSCRIPTION_NOT_FOUND"
    package static let installationNotFound = "INSTALLATION_NOT_FOUND"
    package static let mqttEndpointNotFound = "MQTT_ENDPOINT_NOT_FOUND"
    package static let aclNotFound = "ACL_NOT_FOUND"
    package static let gcmKeyNotFound = "GCMKEY_NOT_FOUND"
    package static let apnsKeyNotFound = "APNSKEY_NOT_FOUND"
    package static let jpushKeyNotFound = "JPUSHKEY_NOT_FOUND"

    // Status 409
    /// A user has this name, address or number already.
    package static let userAlreadyExists = "USER_ALREADY_EXISTS"
    /// A thing has this vendor thing ID already.
    package static let thingAlreadyExists = "THING_ALREADY_EXISTS"
    package static let topicAlreadyExists = "TOPIC_ALREADY_EXISTS"
    package static let pushSubscriptionAlreadyExists = "PUSH_SUBSCRIPTION_ALREADY_EXISTS"
    package static let aclAlreadyExists = "ACL_ALREADY_EXISTS"

    // Status 503
    /// The installation exists, but the cloud still makes its MQTT endpoint.
    package static let mqttEndpointNotReady = "MQTT_ENDPOINT_NOT_READY"
    package static let lockFailed = "LOCK_FAILED"
    package static let queryTimeout = "QUERY_TIMEOUT"
    package static let resourceTemporarilyUnavailable = "RESOURCE_TEMPORARILY_UNAVAILABLE"
    package static let temporaryUnavailableError = "TEMPORARY_UNAVAILABLE_ERROR"
}
