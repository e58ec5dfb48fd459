/// What a provider asks to be shown: the object `aps` of a payload.
///
/// - Source: Apple's page on `application(_:didReceiveRemoteNotification:)`; Kii's guide for the delivered keys.
public struct NotificationContent: Sendable, Hashable {
    /// What to do with the number on the app's icon.
    public enum Badge: Sendable, Hashable {
        /// Take the number away: there is no `badge` in `aps`.
        case remove
        /// Set it. Zero and less also take it out of view.
        case set(Int)
    }

    /// The text to show, if any.
    public var alert: NotificationAlert?
    /// What to do with the number on the app's icon.
    public var badge: Badge
    /// The name of the sound to play; `default` is the default sound.
    public var sound: String?
    /// Whether the program is to be woken for the message (`content-available`).
    public var isContentAvailable: Bool
    /// The name of the registered category whose actions are offered.
    public var category: String?
    /// Whether the program may change the notification before it is shown (`mutable-content`).
    public var isMutableContent: Bool
    /// Which conversation it belongs to; a later one replaces an earlier one.
    public var threadID: String?
    /// Everything else in `aps`, not interpreted.
    public var otherMembers: [JSONMember]

    /// Makes content. The defaults are those of an empty `aps`.
    public init(
        alert: NotificationAlert? = nil,
        badge: Badge = .remove,
        sound: String? = nil,
        isContentAvailable: Bool = false,
        category: String? = nil,
        isMutableContent: Bool = false,
        threadID: String? = nil,
        otherMembers: [JSONMember] = []
    ) {
        self.alert = alert
        self.badge = badge
        self.sound = sound
        self.isContentAvailable = isContentAvailable
        self.category = category
        self.isMutableContent = isMutableContent
        self.threadID = threadID
        self.otherMembers = otherMembers
    }

    /// Reads the value of `aps`. Null anywhere in it counts as absent.
    ///
    /// - Throws: ``MessageError/wrongType(at:expected:found:)`` with the way from the payload's top level.
    public init(aps: JSONValue) throws(MessageError) {
        let pointer = JSONPointer(tokens: ["aps"])
        guard let members = aps.members else { throw .wrongType(at: pointer, "an object", aps) }
        self.init()
        for member in members where !member.value.isNull {
            let (value, place) = (member.value, pointer.appending(member.key))
            switch member.key {
            case "alert": self.alert = try NotificationAlert(value, at: place)
            case "badge":
                guard let number = value.int64 else { throw .wrongType(at: place, "a whole number", value) }
                self.badge = .set(Int(number))
            case "sound":
                guard value.kind == .object else {
                    self.sound = try value.text(at: place)
                    continue
                }
                // Apple's critical alerts have an object with the name in it; what else it says is kept.
                self.sound = try value["name"]?.text(at: place.appending("name"))
                self.otherMembers.append(member)
            case "content-available": self.isContentAvailable = try value.flag(at: place)
            case "category": self.category = try value.text(at: place)
            case "mutable-content": self.isMutableContent = try value.flag(at: place)
            case "thread-id": self.threadID = try value.text(at: place)
            default: self.otherMembers.append(member)
            }
        }
    }
}

extension JSONValue {
    /// A string, or an error that names its place.
    func text(at place: JSONPointer) throws(MessageError) -> String {
        guard let string = self.string else { throw .wrongType(at: place, "a string", self) }
        return string
    }

    /// A truth value or a number other than zero, or an error that names its place.
    func flag(at place: JSONPointer) throws(MessageError) -> Bool {
        if let bool = self.bool { return bool }
        guard let number = self.number else { throw .wrongType(at: place, "true, false or a number", self) }
        return number != JSONNumber(0)
    }
}

extension MessageError {
    static func wrongType(at place: JSONPointer, _ expected: String, _ value: JSONValue) -> MessageError {
        .wrongType(at: place, expected: expected, found: value.kind)
    }
}
