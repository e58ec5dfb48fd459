/// The 15 fields that Kii writes into a push, with the raw values of Kii's `KiiMessageField`.
///
/// Each field has two keys: a long one (MQTT, GCM, FCM) and a short one (APNs).
public enum MessageField: Int, Sendable, Hashable, CaseIterable {
    /// The app that caused the push.
    case appID
    /// The user, thing or administrator that sent the message or changed the object.
    case sender
    /// The event of a push to app; in other pushes the sender's own message type.
    case type
    /// The time of sending, in milliseconds since 1970.
    case when
    /// `EVENT` or `EXPLICIT`.
    case origin
    /// The Kii topic.
    case topic
    /// The app that has the bucket or topic.
    case scopeAppID
    /// The user whose scope has the bucket or topic.
    case scopeUserID
    /// The group whose scope has the bucket or topic.
    case scopeGroupID
    /// The kind of the scope: app, user, group or thing.
    case scopeType
    /// The bucket that changed.
    case bucketID
    /// The kind of bucket.
    case bucketType
    /// The object that changed.
    case objectID
    /// The time of the object's change, in milliseconds since 1970.
    case objectModifiedAt
    /// The thing whose scope has the bucket or topic.
    case scopeThingID

    package func key(in family: KeyFamily) -> String {
        (family == .long ? self.keys.long : self.keys.short).description
    }

    @inline(__always)
    var keys: (long: StaticString, short: StaticString) {
        switch self {
        case .appID: ("appID", "a")
        case .sender: ("sender", "s")
        case .type: ("type", "t")
        case .when: ("when", "w")
        case .origin: ("origin", "o")
        case .topic: ("topic", "to")
        case .scopeAppID: ("objectScopeAppID", "sa")
        case .scopeUserID: ("objectScopeUserID", "su")
        case .scopeGroupID: ("objectScopeGroupID", "sg")
        case .scopeType: ("objectScopeType", "st")
        case .bucketID: ("bucketID", "bi")
        case .bucketType: ("bucketType", "bt")
        case .objectID: ("objectID", "oi")
        case .objectModifiedAt: ("modifiedAt", "om")
        case .scopeThingID: ("objectScopeThingID", "sth")
        }
    }
}

package enum KeyFamily: Sendable, Hashable {
    /// `bucketID`, `objectScopeType`, …: MQTT, GCM and FCM.
    case long
    /// `bi`, `st`, …: APNs, beside `aps`.
    case short
}
