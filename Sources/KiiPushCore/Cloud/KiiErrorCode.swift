/// Kii's error codes on which the library acts.
package enum KiiErrorCode {
    /// 401: the principal lacks the right, or the token is not valid.
    package static let unauthorized = "UNAUTHORIZED"
    /// 400: no such user or thing, or the password is wrong.
    package static let invalidGrant = "invalid_grant"
    /// 400: no such client ID, or the client secret is wrong.
    package static let invalidClient = "invalid_client"
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

    /// 404: no app has this ID at this site.
    package static let appNotFound = "APP_NOT_FOUND"
    /// 404: there is no such bucket.
    package static let bucketNotFound = "BUCKET_NOT_FOUND"
    /// 404: the bucket has no such filter, or there is no such bucket.
    package static let filterNotFound = "FILTER_NOT_FOUND"
    /// 404: there is no such topic.
    package static let topicNotFound = "TOPIC_NOT_FOUND"
    /// 404: the principal is not subscribed.
    package static let pushSubscriptionNotFound = "PUSH_SUBSCRIPTION_NOT_FOUND"
    /// 404: there is no such installation.
    package static let installationNotFound = "INSTALLATION_NOT_FOUND"
    /// 404: there is no such access control entry.
    package static let aclNotFound = "ACL_NOT_FOUND"

    /// 409: a user has this name, address or number already.
    package static let userAlreadyExists = "USER_ALREADY_EXISTS"
    /// 409: a thing has this vendor thing ID already.
    package static let thingAlreadyExists = "THING_ALREADY_EXISTS"
    /// 409: the topic exists already.
    package static let topicAlreadyExists = "TOPIC_ALREADY_EXISTS"
    /// 409: the principal is subscribed already.
    package static let pushSubscriptionAlreadyExists = "PUSH_SUBSCRIPTION_ALREADY_EXISTS"
    /// 409: the access control entry exists already.
    package static let aclAlreadyExists = "ACL_ALREADY_EXISTS"

    /// 503: the cloud is still making the installation's MQTT endpoint.
    package static let mqttEndpointNotReady = "MQTT_ENDPOINT_NOT_READY"
}
