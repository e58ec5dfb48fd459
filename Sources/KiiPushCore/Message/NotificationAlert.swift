/// The text of a notification: `aps.alert`, a string or an object.
public struct NotificationAlert: Sendable, Hashable {
    /// The title.
    public var title: String?
    /// The line below the title.
    public var subtitle: String?
    /// The text; all there is if `alert` is a string.
    public var body: String?
    /// The key of a text in the program's own strings (`loc-key`).
    public var localizationKey: String?
    /// What to put into that text (`loc-args`).
    public var localizationArguments: [String]
    /// The key of the action button's title in the program's own strings (`action-loc-key`).
    public var actionLocalizationKey: String?
    /// The image to show while the program starts (`launch-image`).
    public var launchImage: String?
    /// Whether a View button is shown (`show-view`). Default: it is.
    public var showsViewButton: Bool
    /// Everything else in the object, not interpreted.
    public var otherMembers: [JSONMember]

    /// Makes an alert. The defaults are those of an empty object.
    public init(
        title: String? = nil,
        subtitle: String? = nil,
        body: String? = nil,
        localizationKey: String? = nil,
        localizationArguments: [String] = [],
        actionLocalizationKey: String? = nil,
        launchImage: String? = nil,
        showsViewButton: Bool = true,
        otherMembers: [JSONMember] = []
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.localizationKey = localizationKey
        self.localizationArguments = localizationArguments
        self.actionLocalizationKey = actionLocalizationKey
        self.launchImage = launchImage
        self.showsViewButton = showsViewButton
        self.otherMembers = otherMembers
    }

    /// Whether there is anything to show: a text or the key of one that is not empty.
    public var isVisible: Bool {
        [self.title, self.subtitle, self.body, self.localizationKey].contains { $0?.isEmpty == false }
    }

    init(_ value: JSONValue, at pointer: JSONPointer) throws(MessageError) {
        self.init()
        if let body = value.string {
            self.body = body
            return
        }
        guard let members = value.members else { throw .wrongType(at: pointer, "a string or an object", value) }
        for member in members where !member.value.isNull {
            let (value, place) = (member.value, pointer.appending(member.key))
            switch member.key {
            case "title": self.title = try value.text(at: place)
            case "subtitle": self.subtitle = try value.text(at: place)
            case "body": self.body = try value.text(at: place)
            case "loc-key": self.localizationKey = try value.text(at: place)
            case "loc-args":
                guard let arguments = value.array else { throw .wrongType(at: place, "an array of strings", value) }
                for (index, argument) in arguments.enumerated() {
                    self.localizationArguments.append(try argument.text(at: place.appending(index)))
                }
            case "action-loc-key": self.actionLocalizationKey = try value.text(at: place)
            case "launch-image": self.launchImage = try value.text(at: place)
            case "show-view": self.showsViewButton = try value.flag(at: place)
            default: self.otherMembers.append(member)
            }
        }
    }
}
