import KiiPushCore

/// What the value of one of Kii's fields tells in this message, where that is more than what is written.
struct FieldReading {
    let text: String?

    init(_ field: MessageField, of message: ReceivedMessage) {
        self.text =
            switch field {
            case .when: message.when?.description
            case .objectModifiedAt: message.modifiedAt?.description
            case .type where message.kind == .pushToApp: message.eventType.flatMap(Self.words)
            case .sender: message.senderThing == nil ? nil : "a thing"
            case .origin: message.origin.flatMap(Self.words)
            case .scopeType: message.scopeType.flatMap(Self.words)
            case .bucketType: message.sourceBucketType.flatMap(Self.words)
            default: nil
            }
    }

    private static func words(_ event: EventType) -> String? {
        switch event {
        case .objectCreated: "an object was created"
        case .objectUpdated: "an object was changed"
        case .objectDeleted: "an object was deleted"
        case .objectBodyUpdated: "an object's body was changed"
        case .objectBodyDeleted: "an object's body was deleted"
        case .objectACLModified: "the rights to an object were changed"
        case .bucketDeleted: "the bucket was deleted"
        case .other: nil
        }
    }

    private static func words(_ origin: MessageOrigin) -> String? {
        switch origin {
        case .event: "a change in a bucket"
        case .explicit: "somebody sent it"
        case .other: nil
        }
    }

    private static func words(_ scope: ScopeType) -> String? {
        switch scope {
        case .app: "the app's own"
        case .user: "a user's"
        case .group: "a group's"
        case .thing: "a thing's"
        case .other: nil
        }
    }

    private static func words(_ type: BucketType) -> String? {
        switch type {
        case .readWrite: "an ordinary bucket"
        case .sync: "a bucket that is synchronised"
        case .other: nil
        }
    }
}
