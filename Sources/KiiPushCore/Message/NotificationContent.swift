/// The notification that a provider requests: the object `aps` of a payload.
///
/// - Source: Apple's page on `application(_:didReceiveRemoteNotification:)`; Kii's guide for the delivered keys.
public struct NotificationContent: Sendable, Hashable {
    /// A change of the number on the app's icon.
    ///
    /// Apple's pages differ about an `aps` without `badge`. This library follows the page of UIKit's
    /// `application(_:didReceiveRemoteNotification:)`: the number is removed. In "Generating a remote notification" the
    /// number stays, and 0 removes it. A `badge` in every `aps` satisfies both.
    public enum Badge: Sendable, Hashable {
        /// Remove the number: `aps` has no `badge`, or one of the wrong type.
        case remove
        /// Set the number. Zero and negative numbers hide it.
        case set(Int)
    }

    /// The text to show, if any.
    public var alert: NotificationAlert?
    /// The change of the number on the app's icon.
    public var badge = Badge.remove
    /// The name of the sound; `default` is the default sound.
    public var sound: String?
    /// Whether the message should wake the program (`content-available`).
    public var isContentAvailable = false
    /// The registered category whose actions the notification offers.
    public var category: String?
    /// The conversation of the message. Apple groups notifications by conversation; no notification replaces another.
    public var threadID: String?
    /// Values dropped for a wrong type, in the order of the payload.
    package internal(set) var findings: [PayloadFinding] = []
}

extension NotificationContent {
    /// A null anywhere counts as absent.
    package init?(aps: JSONValue) {
        guard let members = aps.members else { return nil }
        self.init()
        let pointer = JSONPointer(tokens: ["aps"])
        for member in members where !member.value.isNull {
            let value = member.value
            var place: JSONPointer { pointer.appending(member.key) }
            switch member.key {
            case "alert": self.alert = NotificationAlert(value, at: place, &self.findings)
            case "badge":
                if let number = value.int64 {
                    self.badge = .set(Int(number))
                } else {
                    self.findings.append(PayloadFinding(value, at: place, expected: "a whole number"))
                }
            case "sound":
                if value.kind == .object {
                    // Apple's critical alerts have an object with the name.
                    guard let name = value["name"], !name.isNull else { continue }
                    self.sound = name.text(&self.findings, at: place.appending("name"))
                } else {
                    self.sound = value.text(&self.findings, at: place)
                }
            case "content-available": self.isContentAvailable = value.flag(&self.findings, at: place) ?? false
            case "category": self.category = value.text(&self.findings, at: place)
            case "thread-id": self.threadID = value.text(&self.findings, at: place)
            default: break
            }
        }
    }
}
