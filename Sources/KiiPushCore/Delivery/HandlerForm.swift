/// Which of a handler's forms is called, found out once.
enum HandlerForm: Sendable {
    case completion(any RemoteNotificationHandler)
    case async(any AsyncRemoteNotificationHandler)
    case plain(any NotificationHandler)
    /// A defect of the program: every message fails, and says so.
    case none

    /// "If you implement both, the application(_:didReceiveRemoteNotification:) method will not be called."
    init(_ handler: any NotificationHandler) {
        if let handler = handler as? any RemoteNotificationHandler {
            self = .completion(handler)
        } else if let handler = handler as? any AsyncRemoteNotificationHandler {
            self = .async(handler)
        } else if plainCaller.isPlain(handler) {
            self = .plain(handler)
        } else {
            self = .none
        }
    }
}

/// The deprecated form, called without naming it in code that is not deprecated itself: only witnesses that are deprecated
/// themselves may name a deprecated protocol without a warning.
let plainCaller: any PlainCaller = DeprecatedPlainCaller()

protocol PlainCaller: Sendable {
    func isPlain(_ handler: any NotificationHandler) -> Bool
    func call(_ handler: any NotificationHandler, _ message: ReceivedMessage)
}

private struct DeprecatedPlainCaller: PlainCaller {
    @available(*, deprecated)
    func isPlain(_ handler: any NotificationHandler) -> Bool { handler is any PlainRemoteNotificationHandler }

    @available(*, deprecated)
    func call(_ handler: any NotificationHandler, _ message: ReceivedMessage) {
        (handler as? any PlainRemoteNotificationHandler)?.didReceiveRemoteNotification(message)
    }
}

/// The handler implements none of the protocols that say how it is called.
struct NoHandlerForm: Error, CustomStringConvertible {
    var description: String { "the handler conforms to NotificationHandler alone; conform to one of its forms" }
}
