import KiiPushCore

/// Payloads are untrusted, so this type escapes markup, removes control characters and cuts long texts.
///
/// - Source: the Desktop Notifications Specification, version 1.2: "Basic Design", "Markup", "Hints", "Urgency Levels".
struct DesktopNotification {
    private static let viewKey = "default"
    private static let customPrefix = "action:"
    private static let backgroundPrefix = "background:"

    let request: NotificationRequest
    let configuration: DesktopPresenter.Configuration
    let capabilities: Set<String>

    static let types = "susssasa{sv}i"

    /// The arguments of `Notify`. The number 0 means a new notification, which replaces no other.
    var arguments: [SessionBus.Argument] {
        let name = DesktopText.line(self.configuration.applicationName)
        let (title, body) = self.texts
        let actions = self.capabilities.contains("actions") ? self.actions : []
        let summary = [title, name].first { !$0.isEmpty } ?? "Notification"
        let head: [SessionBus.Argument] = [
            .text(name), .number(0), .text(self.configuration.icon ?? ""), .text(summary), .text(body),
        ]
        return head + [.number(Int32(actions.count))] + actions.map { .text($0) } + self.hints
            + [.number(self.displayTime)]
    }

    private var texts: (title: String, body: String) {
        let alert = self.request.alert
        let title = alert.title ?? self.localized(alert.titleLocalizationKey, alert.titleLocalizationArguments)
        let subtitle =
            alert.subtitle ?? self.localized(alert.subtitleLocalizationKey, alert.subtitleLocalizationArguments)
        let text = alert.body ?? self.localized(alert.localizationKey, alert.localizationArguments)
        let body = [DesktopText.line(subtitle ?? ""), DesktopText.block(text ?? "")]
            .filter { !$0.isEmpty }.joined(separator: "\n")
        // A service without the `body` capability shows only the title, so an empty title is replaced by the body.
        let isTitle = !self.capabilities.contains("body") && title?.isEmpty != false
        return (
            DesktopText.line(isTitle ? body : title ?? ""),
            self.capabilities.contains("body-markup") ? DesktopText.escaped(body) : body
        )
    }

    private func localized(_ key: String?, _ arguments: [String] = []) -> String? {
        key.map { self.configuration.localizedText($0, arguments) ?? $0 }
    }

    /// In milliseconds. -1 means the service's default; 0 means that the notification stays until the user reacts.
    private var displayTime: Int32 {
        self.configuration.displayTime.map { Int32(clamping: max($0, .zero).wholeMillisecondsRoundedUp) }
            ?? (self.capabilities.contains("persistence") ? -1 : 0)
    }

    private var actions: [String] {
        var actions: [String] = []
        if self.request.alert.showsViewButton {
            let title = self.localized(self.request.alert.actionLocalizationKey) ?? self.configuration.viewTitle
            actions = [Self.viewKey, DesktopText.line(title)]
        }
        let category = self.configuration.categories.first { $0.identifier == self.request.category }
        for action in category?.actions ?? [] {
            let prefix = action.isForeground ? Self.customPrefix : Self.backgroundPrefix
            actions += [prefix + action.identifier, DesktopText.line(action.title)]
        }
        return actions
    }

    static func userAction(key: String) -> UserAction? {
        if key == Self.viewKey { return .open }
        let kinds = [(Self.customPrefix, UserAction.custom), (Self.backgroundPrefix, UserAction.background)]
        for (prefix, action) in kinds where key.hasPrefix(prefix) && key != prefix {
            return action(String(key.dropFirst(prefix.count)))
        }
        return nil
    }

    private var hints: [SessionBus.Argument] {
        var hints: [[SessionBus.Argument]] = [[.text("urgency"), .text("y"), .number(self.urgency)]]
        if let entry = self.configuration.desktopEntry {
            hints.append([.text("desktop-entry"), .text("s"), .text(entry)])
        }
        // No sound at a second presentation: the user heard the sound the first time.
        if let sound = self.request.sound, !self.request.wasPresentedBefore {
            hints.append([.text("sound-name"), .text("s"), .text(Self.soundName(sound))])
        } else {
            hints.append([.text("suppress-sound"), .text("b"), .number(1)])
        }
        return [.number(Int32(hints.count))] + hints.joined()
    }

    /// Low, normal or critical ("Urgency Levels"), from Apple's `interruption-level` of newer payloads.
    private var urgency: Int32 {
        switch self.request.message["aps"]?["interruption-level"]?.string {
        case "passive": 0
        case "critical": 2
        default: 1
        }
    }

    /// The sound's name in the sound theme. On iOS a sound is a file of the app, so the extension is removed. A name
    /// with other characters than ASCII letters, digits, `-` and `_` could be a path, and counts as the default sound.
    private static func soundName(_ name: String) -> String {
        let stem = name.prefix { $0 != "." }
        let isName = stem.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        return isName && !stem.isEmpty && name != "default" ? String(stem) : "message-new-instant"
    }
}
