/// Finds out whether the program came to the foreground because the user opened a notification.
///
/// The state variable and the rules are those of the launch detection document: set from the launch options, or by a
/// reception in state inactive; cleared when the program enters the foreground; used up when it becomes active. One rule
/// is added: a reception counts only if the user opened the notification, since a push that merely arrives while the user
/// looks at the app switcher is received in state inactive as well.
package struct OpeningTracker: Sendable {
    /// A notification that the user opened.
    package struct Opening: Sendable, Hashable {
        package var message: ReceivedMessage
        /// The message's number in the inbox; `nil` if it is not known.
        package var messageID: Int64?
        /// The installation that received it; `nil` if it is not known.
        package var installationID: String?
        /// Who is to be told; `nil` for whoever comes first.
        package var target: Int?
    }

    /// The document's `notificationUserInfo`.
    package private(set) var notification: Opening?
    /// The openings that were received or used up: further attempts to deliver such a message are no further openings.
    private var known: Set<Key> = []

    /// Numbers are given anew in every inbox, and agents with different ones share a tracker.
    private struct Key: Hashable {
        var installationID: String?
        var messageID: Int64
    }

    package init() {}

    package mutating func didFinishLaunching(_ options: LaunchOptions) {
        self.notification = nil
        // One that was started by a push without a user is not opened.
        guard let message = options.remoteNotification, options.userAction?.opensProgram == true else { return }
        self.notification = Opening(
            message: message, messageID: options.messageID, installationID: options.installationID)
    }

    package mutating func willEnterForeground() { self.notification = nil }

    /// The reception handler, or the user-action handler, is about to be called.
    package mutating func received(_ opening: Opening, state: LifecycleState, isUserOpened: Bool) {
        guard isUserOpened, self.isNew(opening), state == .inactive else { return }
        self.notification = opening
    }

    /// The program is in use.
    ///
    /// - Returns: what the user opened, once; `nil` if the program came to be active in another way.
    package mutating func didBecomeActive() -> Opening? {
        guard let opening = self.notification else { return nil }
        self.notification = nil
        _ = self.isNew(opening)
        return opening
    }

    /// Whether this opening was not known before, as it is from now on.
    private mutating func isNew(_ opening: Opening) -> Bool {
        guard let id = opening.messageID else { return true }
        guard self.known.insert(Key(installationID: opening.installationID, messageID: id)).inserted else {
            return false
        }
        // A launch that did not say whose message it was for: the first with its number is taken for it.
        guard opening.installationID != nil else { return true }
        return self.known.remove(Key(installationID: nil, messageID: id)) == nil
    }
}
