extension KiiError: CustomStringConvertible {
    /// One line: the refused call, the reason, and advice.
    public var description: String {
        var line = "\(self.operation) \(self.isInDoubt ? "failed" : "was refused") with \(self.status)"
        if let errorCode = self.errorCode { line += " \(errorCode)" }
        if let message = self.message?.onOneLine, !message.isEmpty { line += " (\(message))" }
        line += ": \(self.advice)"
        if let wait = self.retryAfter { line += "; the cloud asks to wait \(wait.wholeMillisecondsRoundedUp / 1000) s" }
        return line
    }

    private var advice: String {
        if self.isInDoubt { return "it may have been carried out all the same, and to repeat it may do it twice" }
        if self.isAboutOthersInstallations {
            return "only an administrator lists installations that are not its own: name the token's user or thing as "
                + "the owner, or sign in as an administrator"
        }
        if self.saysLocked { return "too many have tried with a wrong password; wait, then sign in again" }
        if self.errorCode == KiiErrorCode.unauthorized, !self.refusesToken { return self.adviceOnRights }
        if let errorCode = self.errorCode, let advice = KiiError.advice(for: errorCode) { return advice }
        switch self.status {
        case 300..<400:
            return "the cloud has moved, or something on the way answers in its place; check the base URL and any proxy"
        case 408, 425: return "try again shortly"
        case 409: return "it is there already"
        case 413: return "send less"
        case 429: return "too many requests; wait, then try again"
        case 501: return "this cloud does not have the operation"
        case 511: return "this network wants a sign-in of its own first"
        case 500..<600: return "the cloud has a problem; try again later"
        case _ where !self.isOfCloud: return "the answer does not look like Kii's; check the base URL and any proxy"
        case 400: return "correct the request"
        case 401: return "sign in again, or as somebody who has the right"
        case 403: return "use a principal that may do this"
        case 404: return "check the ID"
        default: return "check the base URL and any proxy"
        }
    }

    private var isAboutOthersInstallations: Bool {
        guard self.operation.method == .get, self.operation.path.hasSuffix("/installations") else { return false }
        return self.status == 401 && self.errorCode == KiiErrorCode.unauthorized
    }

    private var adviceOnRights: String {
        let path = self.operation.path
        guard path.contains(bytesOf: "/topics/"), path.hasSuffix("/push/messages") else {
            return "the token is good, and its user or thing lacks the right; have somebody do it who has the right"
        }
        return
            "the token is good, and its user or thing lacks the right SEND_MESSAGE_TO_TOPIC, which a topic of the app "
            + "gives to the administrator alone unless it is told otherwise; have it granted, or send as the administrator"
    }

    private static func advice(for code: String) -> String? {
        switch code {
        case "UNAUTHORIZED":
            "the token is not valid or lacks the right, or the app key is wrong; sign in again, or as somebody who has the "
                + "right, or check the app ID and key"
        case "invalid_grant", "AUTHENTICATION_FAILED", "WRONG_PASSWORD":
            "check the name and the password"
        case "invalid_client": "check the client ID and the client secret"
        case "USER_DISABLED", "THING_DISABLED", "APP_DISABLED":
            "it has been disabled; have it enabled by its administrator"
        case "WRONG_TOKEN": "the token is no longer valid; sign in again"
        case "WRONG_REFRESH_TOKEN": "a refresh token works once; sign in again with name and password"
        case "APP_NOT_FOUND": "check the app ID and the site: an app lives at one site only"
        case "USER_NOT_FOUND", "THING_NOT_FOUND", "GROUP_NOT_FOUND": "check the ID"
        case "TOPIC_NOT_FOUND": "create the topic first, or check its ID and scope"
        case "BUCKET_NOT_FOUND", "FILTER_NOT_FOUND":
            "put an object into the bucket first, or check its ID and scope"
        case "OBJECT_NOT_FOUND": "check the object's ID"
        case "PUSH_SUBSCRIPTION_NOT_FOUND": "subscribe first"
        case "INSTALLATION_NOT_FOUND": "create the installation again"
        case "MQTT_ENDPOINT_NOT_FOUND": "check that the installation is one for MQTT, or create it again"
        case "MQTT_ENDPOINT_NOT_READY": "it is still being made; ask again shortly"
        case "GCMKEY_NOT_FOUND", "APNSKEY_NOT_FOUND", "JPUSHKEY_NOT_FOUND":
            "give the app its key for this network in the developer portal, or leave the network out"
        case "USER_ALREADY_EXISTS", "THING_ALREADY_EXISTS": "sign in to it, or choose another name"
        case "PUSH_SUBSCRIPTION_ALREADY_EXISTS": "nothing needs to be done"
        case "LOCK_FAILED", "QUERY_TIMEOUT", "RESOURCE_TEMPORARILY_UNAVAILABLE",
            "TEMPORARY_UNAVAILABLE_ERROR":
            "try again shortly"
        default: nil
        }
    }
}
