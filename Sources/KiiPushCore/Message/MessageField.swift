/// The 15 fields that Kii writes into a push, in the order and with the raw values of Kii's `KiiMessageField`.
///
/// Every field has two keys: a long one (MQTT, GCM, FCM) and a short one (APNs).
public enum MessageField: Int, Sendable, Hashable, CaseIterable {
    /// The app that caused the push.
    case appID
    /// Who sent it, or whose change caused it.
    case sender
    /// The event of a push to app; the sender's own type of message otherwise.
    case type
    /// When it was sent, in milliseconds since 1970.
    case when
    /// `EVENT` or `EXPLICIT`.
    case origin
    /// The Kii topic.
    case topic
    /// The app in which the source lives.
    case scopeAppID
    /// The user in whose scope the source lives.
    case scopeUserID
    /// The group in whose scope the source lives.
    case scopeGroupID
    /// Which scope the source lives in.
    case scopeType
    /// The bucket that changed.
    case bucketID
    /// The kind of bucket.
    case bucketType
    /// The object that changed.
    case objectID
    /// When the object changed, in milliseconds since 1970.
    case objectModifiedAt
    /// The thing in whose scope the source lives.
    case scopeThingID

    /// The field's key in a payload, as it stands on the wire.
    public func key(in family: KeyFamily) -> String {
        switch family {
        case .long: self.longKey.description
        case .short: self.shortKey.description
        }
    }

    @inline(__always)
    var longKey: StaticString {
        switch self {
        case .appID: "appID"
        case .sender: "sender"
        case .type: "type"
        case .when: "when"
        case .origin: "origin"
        case .topic: "topic"
        case .scopeAppID: "objectScopeAppID"
        case .scopeUserID: "objectScopeUserID"
        case .scopeGroupID: "objectScopeGroupID"
        case .scopeType: "objectScopeType"
        case .bucketID: "bucketID"
        case .bucketType: "bucketType"
        case .objectID: "objectID"
        case .objectModifiedAt: "modifiedAt"
        case .scopeThingID: "objectScopeThingID"
        }
    }

    @inline(__always)
    var shortKey: StaticString {
        switch self {
        case .appID: "a"
        case .sender: "s"
        case .type: "t"
        case .when: "w"
        case .origin: "o"
        case .topic: "to"
        case .scopeAppID: "sa"
        case .scopeUserID: "su"
        case .scopeGroupID: "sg"
        case .scopeType: "st"
        case .bucketID: "bi"
        case .bucketType: "bt"
        case .objectID: "oi"
        case .objectModifiedAt: "om"
        case .scopeThingID: "sth"
        }
    }
}

/// Which of the two sets of keys a payload is written with.
public enum KeyFamily: Sendable, Hashable {
    /// `bucketID`, `objectScopeType`, …: MQTT, GCM and FCM.
    case long
    /// `bi`, `st`, …: APNs, beside `aps`.
    case short
}
