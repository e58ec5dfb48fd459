/// Detects whether the program came to the foreground because the user opened a notification.
///
/// The state variable and the rules follow the launch detection document. The launch options, or a reception in state
/// inactive, set the variable. Entering the foreground clears it, and becoming active uses it up. This library adds one
/// rule: a reception counts only if the user opened the notification. A push that merely arrives while the user looks
/// at the app switcher is also received in state inactive.
package struct OpeningTracker: Sendable {
    package struct Opening: Sendable, Hashable {
        package var message: ReceivedMessage
        package var messageID: Int64?
        package var installationID: String?
        /// The number of the handler to call; `nil` for the first that registers.
        package var target: Int?
    }

    /// The document's `notificationUserInfo`.
    package private(set) var notification: Opening?
    /// Openings received or used up; a further delivery attempt of such a message is no new opening.
    private var known: Set<Key> = []

    /// Every inbox counts its own numbers, and agents with different inboxes share a tracker.
    private struct Key: Hashable {
        var installationID: String?
        var messageID: Int64
    }

    package init() {}

    package mutating func didFinishLaunching(_ options: LaunchOptions) {
        self.notification = nil
        // A push may start the program without an opening by the user.
        guard let message = options.remoteNotification, options.userAction?.opensProgram == true else { return }
        self.notification = Opening(
            message: message, messageID: options.messageID, installationID: options.installationID)
    }

    package mutating func willEnterForeground() { self.notification = nil }

    /// Records that the agent is about to call the reception or user-action handler.
    package mutating func received(_ opening: Opening, state: LifecycleState, isUserOpened: Bool) {
        guard isUserOpened, self.isNew(opening), state == .inactive else { return }
        self.notification = opening
    }

    /// Records that the program is in use.
    ///
    /// - Returns: the user's opening, once; `nil` if the program became active in another way.
    package mutating func didBecomeActive() -> Opening? {
        guard let opening = self.notification else { return nil }
        self.notification = nil
        _ = self.isNew(opening)
        return opening
    }

    /// Whether this opening was unknown; it is known from now on.
    private mutating func isNew(_ opening: Opening) -> Bool {
        guard let id = opening.messageID else { return true }
        guard self.known.insert(Key(installationID: opening.installationID, messageID: id)).inserted else {
            return false
        }
        // A launch may not name the installation (key `nil`). Then the first opening with its number is that launch's.
        guard opening.installationID != nil else { return true }
        return self.known.remove(Key(installationID: nil, messageID: id)) == nil
    }
}
