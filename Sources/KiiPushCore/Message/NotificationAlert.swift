/// The text of a notification: `aps.alert`, a string or an object.
public struct NotificationAlert: Sendable, Hashable {
    /// The title.
    public var title: String?
    /// The line below the title.
    public var subtitle: String?
    /// The text; all there is if `alert` is a string.
    public var body: String?
    /// The key of a text in the program's own strings (`loc-key`).
    package var localizationKey: String?
    /// What to put into that text (`loc-args`).
    package var localizationArguments: [String] = []
    /// The key of a title in the program's own strings (`title-loc-key`).
    package var titleLocalizationKey: String?
    /// What to put into that title (`title-loc-args`).
    package var titleLocalizationArguments: [String] = []
    /// The key of a subtitle in the program's own strings (`subtitle-loc-key`).
    package var subtitleLocalizationKey: String?
    /// What to put into that subtitle (`subtitle-loc-args`).
    package var subtitleLocalizationArguments: [String] = []
    /// The key of the action button's title in the program's own strings (`action-loc-key`).
    package var actionLocalizationKey: String?
    /// The image to show while the program starts (`launch-image`).
    package var launchImage: String?
    /// Whether a View button is shown (`show-view`). Default: it is.
    package var showsViewButton = true
    /// Everything else in the object, not interpreted.
    package var otherMembers: [JSONMember] = []
}

extension NotificationAlert {
    /// Makes an alert of texts. What else an alert may have can be set; the defaults are those of an empty object.
    public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
        // `otherMembers` makes it a call of the memberwise initialiser; without it this one would call itself.
        self.init(title: title, subtitle: subtitle, body: body, otherMembers: [])
    }

    /// Whether there is anything to show: a text or the key of one that is not empty.
    package var isVisible: Bool {
        [
            self.title, self.subtitle, self.body, self.titleLocalizationKey, self.subtitleLocalizationKey,
            self.localizationKey,
        ].contains { $0?.isEmpty == false }
    }

    /// Nil for a value that is neither a string nor an object.
    init?(_ value: JSONValue, at pointer: JSONPointer, _ findings: inout [PayloadFinding]) {
        self.init(body: value.string)
        guard self.body == nil else { return }
        guard let members = value.members else {
            findings.append(PayloadFinding(value, at: pointer, expected: "a string or an object"))
            return nil
        }
        for member in members where !member.value.isNull {
            let value = member.value
            var place: JSONPointer { pointer.appending(member.key) }
            switch member.key {
            case "title": self.title = value.text(&findings, at: place)
            case "subtitle": self.subtitle = value.text(&findings, at: place)
            case "body": self.body = value.text(&findings, at: place)
            case "loc-key": self.localizationKey = value.text(&findings, at: place)
            case "loc-args": self.localizationArguments = value.texts(&findings, at: place)
            case "title-loc-key": self.titleLocalizationKey = value.text(&findings, at: place)
            case "title-loc-args": self.titleLocalizationArguments = value.texts(&findings, at: place)
            case "subtitle-loc-key": self.subtitleLocalizationKey = value.text(&findings, at: place)
            case "subtitle-loc-args": self.subtitleLocalizationArguments = value.texts(&findings, at: place)
            case "action-loc-key": self.actionLocalizationKey = value.text(&findings, at: place)
            case "launch-image": self.launchImage = value.text(&findings, at: place)
            case "show-view": self.showsViewButton = value.flag(&findings, at: place) ?? true
            default: self.otherMembers.append(member)
            }
        }
    }
}
