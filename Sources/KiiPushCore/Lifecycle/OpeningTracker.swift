/// Detects whether the program came to the foreground because the user opened a notification.
///
/// The rules follow Kii's launch detection document, with one more: only a message whose notification the user opened
/// counts.
package struct OpeningTracker: Sendable {
    package struct Opening: Sendable, Hashable {
        package var message: ReceivedMessage
        package var messageID: Int64?
        package var installationID: String?
        package var target: Int?
    }

    /// The opened notification, until ``didBecomeActive()`` returns it.
    package private(set) var notification: Opening?
    /// Retries of these messages do not count as new openings.
    private var known: Set<Key> = []

    /// Message numbers are unique only within one inbox, and agents with different inboxes share a tracker.
    private struct Key: Hashable {
        var installationID: String?
        var messageID: Int64
    }

    package init() {}

    package mutating func didFinishLaunching(_ options: LaunchOptions) {
        self.notification = nil
        // A push may start the program without the user.
        guard let message = options.remoteNotification, options.userAction?.opensProgram == true else { return }
        self.notification = Opening(
            message: message, messageID: options.messageID, installationID: options.installationID)
    }

    package mutating func willEnterForeground() { self.notification = nil }

    package mutating func received(_ opening: Opening, state: LifecycleState, isUserOpened: Bool) {
        guard isUserOpened, self.isNew(opening), state == .inactive else { return }
        self.notification = opening
    }

    package mutating func didBecomeActive() -> Opening? {
        guard let opening = self.notification else { return nil }
        self.notification = nil
        _ = self.isNew(opening)
        return opening
    }

    /// Also marks the opening as known.
    private mutating func isNew(_ opening: Opening) -> Bool {
        guard let id = opening.messageID else { return true }
        guard self.known.insert(Key(installationID: opening.installationID, messageID: id)).inserted else {
            return false
        }
        // A launch without an installation's ID has a key with `nil`. The first opening with the same message number
        // counts as that launch, not as a new opening.
        guard opening.installationID != nil else { return true }
        return self.known.remove(Key(installationID: nil, messageID: id)) == nil
    }
}
