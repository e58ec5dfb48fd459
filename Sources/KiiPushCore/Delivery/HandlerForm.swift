/// Which of a handler's forms is called, found out once.
enum HandlerForm: Sendable {
    case completion(any RemoteNotificationHandler)
    case async(any AsyncRemoteNotificationHandler)
    case plain(@Sendable (ReceivedMessage) -> Void)
    /// A defect of the program: every message fails, and says so.
    case none

    /// "If you implement both, the application(_:didReceiveRemoteNotification:) method will not be called."
    init(_ handler: any NotificationHandler) {
        if let handler = handler as? any RemoteNotificationHandler {
            self = .completion(handler)
        } else if let handler = handler as? any AsyncRemoteNotificationHandler {
            self = .async(handler)
        } else if let call = plainForm.call(of: handler) {
            self = .plain(call)
        } else {
            self = .none
        }
    }
}

/// The deprecated form, found without naming it in code that is not deprecated itself: only witnesses that are deprecated
/// themselves may name a deprecated protocol without a warning.
private let plainForm: any PlainForm = DeprecatedPlainForm()

private protocol PlainForm: Sendable {
    func call(of handler: any NotificationHandler) -> (@Sendable (ReceivedMessage) -> Void)?
}

private struct DeprecatedPlainForm: PlainForm {
    @available(*, deprecated)
    func call(of handler: any NotificationHandler) -> (@Sendable (ReceivedMessage) -> Void)? {
        guard let handler = handler as? any PlainRemoteNotificationHandler else { return nil }
        return { handler.didReceiveRemoteNotification($0) }
    }
}
