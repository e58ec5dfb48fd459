package import KiiPushCore

extension ReceivedMessage {
    /// The meaning of a Kii field's value in this message; `nil` if the value needs no explanation.
    package func reading(of field: MessageField) -> String? {
        switch field {
        case .when: self.when?.description
        case .objectModifiedAt: self.modifiedAt?.description
        case .type where self.kind == .pushToApp: self.eventType.flatMap { Self.events[$0] }
        case .sender: if case .thing = self.sender { "a thing" } else { nil }
        case .origin: self.origin.flatMap { Self.origins[$0] }
        case .scopeType: self.value(of: .scopeType).flatMap { Self.scopes[$0] }
        // In any letter case, since Kii's SDKs differ.
        case .bucketType: self.value(of: .bucketType).flatMap { Self.bucketTypes[$0.lowercased()] }
        default: nil
        }
    }

    /// The meaning of a value in `aps` or in an object of `aps`; `nil` if the value needs no explanation.
    package static func reading(ofAPS key: String, _ value: JSONValue) -> String? {
        let isSet = APSLint.isSet(value)
        return switch key {
        case "content-available": isSet ? "it is woken" : "it is not woken"
        case "mutable-content": isSet ? "it may" : "it may not"
        case "show-view", "critical": isSet ? "it is" : "it is not"
        default: nil
        }
    }

    private static let events: [EventType: String] = [
        .objectCreated: "an object was created", .objectUpdated: "an object was changed",
        .objectDeleted: "an object was deleted", .objectBodyUpdated: "an object's body was changed",
        .objectBodyDeleted: "an object's body was deleted",
        .objectACLModified: "the rights to an object were changed", .bucketDeleted: "the bucket was deleted",
    ]
    private static let origins: [MessageOrigin: String] = [
        .event: "a change in a bucket", .explicit: "somebody sent it",
    ]
    private static let scopes = [
        "APP": "the app's own", "APP_AND_USER": "a user's", "APP_AND_GROUP": "a group's", "APP_AND_THING": "a thing's",
    ]
    private static let bucketTypes = ["rw": "an ordinary bucket", "sync": "a bucket that is synchronised"]
}
