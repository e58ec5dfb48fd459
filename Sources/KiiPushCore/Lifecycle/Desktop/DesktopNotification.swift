/// What the notification service is told to show.
///
/// Texts come from outside: what the desktop would take for markup is escaped, control characters are left out, and what is
/// too long for a screen is cut.
///
/// - Source: the Desktop Notifications Specification, version 1.2: "Basic Design", "Markup", "Hints", "Urgency Levels".
struct DesktopNotification: Sendable, Hashable {
    /// Something to choose, with the key by which the service tells that it was chosen.
    struct Action: Sendable, Hashable {
        var key: String
        var title: String
    }

    /// "Urgency Levels": low, normal, critical.
    enum Urgency: UInt8, Sendable, Hashable {
        case low = 0
        case normal = 1
        case critical = 2
    }

    /// A click on the notification itself, for which most services show no button.
    private static let viewKey = "default"
    private static let customPrefix = "action:"
    private static let backgroundPrefix = "background:"

    var applicationName: String
    var icon: String
    var desktopEntry: String?
    var title: String
    var body: String
    var actions: [Action] = []
    var urgency: Urgency
    /// Of the sound theme; `nil` for none.
    var soundName: String?
    /// In milliseconds: -1 is as long as the service likes, 0 until the user reacts.
    var displayTime: Int32

    /// - Parameter capabilities: what the service can show.
    init(
        _ request: NotificationRequest, _ configuration: DesktopPresenter.Configuration, capabilities: Set<String>
    ) {
        let alert = request.alert
        let texts = Self.texts(of: alert, configuration)
        self.applicationName = DesktopText.line(configuration.applicationName)
        self.icon = configuration.icon ?? ""
        self.desktopEntry = configuration.desktopEntry
        self.title = [texts.title.map(DesktopText.line), self.applicationName, "Notification"].firstText
        let body = [texts.subtitle.map(DesktopText.line), texts.body.map(DesktopText.block)]
            .compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "\n")
        self.body = capabilities.contains("body-markup") ? DesktopText.escaped(body) : body
        // A server without bodies shows the title alone, which is to say something.
        if !capabilities.contains("body"), texts.title?.isEmpty != false, !body.isEmpty {
            self.title = DesktopText.line(body)
        }
        if capabilities.contains("actions") { self.actions = Self.actions(of: request, configuration) }
        self.urgency = Self.urgency(of: request)
        // It was heard before.
        self.soundName = request.wasPresentedBefore ? nil : request.sound.map(Self.soundName)
        let keepsThem = capabilities.contains("persistence")
        self.displayTime =
            configuration.displayTime.map { Int32(clamping: max($0, .zero).wholeMillisecondsRoundedUp) }
            ?? (keepsThem ? -1 : 0)
    }

    /// Each text as it is written, else the program's own for its key.
    private static func texts(
        of alert: NotificationAlert, _ configuration: DesktopPresenter.Configuration
    ) -> (title: String?, subtitle: String?, body: String?) {
        let localized = { (key: String?, arguments: [String]) in
            key.map { configuration.localizedText($0, arguments) ?? $0 }
        }
        return (
            alert.title ?? localized(alert.titleLocalizationKey, alert.titleLocalizationArguments),
            alert.subtitle ?? localized(alert.subtitleLocalizationKey, alert.subtitleLocalizationArguments),
            alert.body ?? localized(alert.localizationKey, alert.localizationArguments)
        )
    }

    // MARK: - Actions

    private static func actions(
        of request: NotificationRequest, _ configuration: DesktopPresenter.Configuration
    ) -> [Action] {
        var actions: [Action] = []
        if request.alert.showsViewButton {
            let key = request.alert.actionLocalizationKey
            let title = DesktopText.line(
                key.map { configuration.localizedText($0, []) ?? $0 } ?? configuration.viewTitle)
            actions = [Action(key: Self.viewKey, title: title)]
        }
        let category = configuration.categories.first { $0.identifier == request.category }
        return actions
            + (category?.actions ?? []).map {
                Action(
                    key: ($0.isForeground ? Self.customPrefix : Self.backgroundPrefix) + $0.identifier,
                    title: DesktopText.line($0.title))
            }
    }

    /// What the user chose; `nil` for a key that no notification of ours has.
    static func userAction(key: String) -> UserAction? {
        if key == Self.viewKey { return .open }
        for (prefix, action) in [
            (Self.customPrefix, UserAction.custom), (Self.backgroundPrefix, UserAction.background),
        ]
        where key.hasPrefix(prefix) && key != prefix { return action(String(key.dropFirst(prefix.count))) }
        return nil
    }

    // MARK: - Urgency and sound

    /// Apple's `interruption-level` of newer payloads.
    private static func urgency(of request: NotificationRequest) -> Urgency {
        switch request.message.content?.otherMembers.last(where: { $0.key == "interruption-level" })?.value.string {
        case "passive": .low
        case "critical": .critical
        default: .normal
        }
    }

    /// A name of the sound theme. On iOS it names a file of the app, with its ending; what might be a way through the file
    /// system is none.
    private static func soundName(_ name: String) -> String {
        let stem = name.prefix { $0 != "." }
        let isName =
            !stem.isEmpty
            && stem.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        // Of the freedesktop Sound Naming Specification.
        return isName && name != "default" ? String(stem) : "message-new-instant"
    }

    // MARK: - The call

    /// The arguments of `Notify`. It replaces none by its number.
    var arguments: [BusValue] {
        var hints: [BusValue.Entry] = [.init(key: "urgency", value: .byte(self.urgency.rawValue))]
        if let desktopEntry { hints.append(.init(key: "desktop-entry", value: .string(desktopEntry))) }
        if let soundName {
            hints.append(.init(key: "sound-name", value: .string(soundName)))
        } else {
            hints.append(.init(key: "suppress-sound", value: .boolean(true)))
        }
        return [
            .string(self.applicationName), .uint32(0), .string(self.icon), .string(self.title),
            .string(self.body), .strings(self.actions.flatMap { [$0.key, $0.title] }), .dictionary(hints),
            .int32(self.displayTime),
        ]
    }
}

extension [String?] {
    /// The first that is there and not empty.
    fileprivate var firstText: String { self.lazy.compactMap { $0 }.first { !$0.isEmpty } ?? "" }
}
