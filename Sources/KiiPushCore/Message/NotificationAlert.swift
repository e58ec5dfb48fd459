/// The text of a notification: `aps.alert`, a string or an object.
public struct NotificationAlert: Sendable, Hashable {
    /// The title.
    public var title: String?
    /// The line below the title.
    public var subtitle: String?
    /// The text; the whole alert if `alert` is a string.
    public var body: String?
    package var localizationKey: String?
    package var localizationArguments: [String] = []
    package var titleLocalizationKey: String?
    package var titleLocalizationArguments: [String] = []
    package var subtitleLocalizationKey: String?
    package var subtitleLocalizationArguments: [String] = []
    package var actionLocalizationKey: String?
    package var showsViewButton = true
}

extension NotificationAlert {
    /// Makes an alert from texts. The other properties have their defaults.
    public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
        // `showsViewButton` selects the memberwise initialiser instead of this one.
        self.init(title: title, subtitle: subtitle, body: body, showsViewButton: true)
    }

    package var isVisible: Bool {
        [
            self.title, self.subtitle, self.body, self.titleLocalizationKey, self.subtitleLocalizationKey,
            self.localizationKey,
        ].contains { $0?.isEmpty == false }
    }

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
            case "show-view": self.showsViewButton = value.flag(&findings, at: place) ?? true
            default: break
            }
        }
    }
}
