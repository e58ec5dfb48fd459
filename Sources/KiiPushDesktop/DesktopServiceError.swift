import KiiPushCore

/// A failure to show notifications on the desktop.
public enum DesktopServiceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no session bus, or the bus refuses this program. `code` is an `errno` value.
    case noBus(code: Int32)
    /// The bus or the service did not answer in time.
    case noAnswer
    /// The service ended before it answered.
    case serviceEnded
    /// The connection to the bus is gone. `code` is an `errno` value.
    case connectionLost(code: Int32)
    /// The bus knows no notification service and cannot start one, or the service does not tell its capabilities.
    /// `name` is the name of the D-Bus error.
    case noService(name: String)
    /// The service refused this notification. It may show others. `name` is the name of the D-Bus error, or another
    /// reason.
    case refused(name: String)
    /// The system gave no thread or no file descriptors. `reason` names the lacking resource.
    case noResources(reason: String)

    /// One line for the user: the problem, and often its remedy.
    public var description: String {
        switch self {
        case .noBus(let code):
            "there is no session bus (\(errorText(code))); start the program in a desktop session, "
                + "or set DBUS_SESSION_BUS_ADDRESS"
        case .noAnswer: "the notification service did not answer in time; see whether it hangs"
        case .serviceEnded: "the notification service ended before it had shown anything; see why it does"
        case .connectionLost(let code): "the connection to the session bus is gone (\(errorText(code)))"
        case .noService(let name):
            "the session has no notification service (\(name)); start one, such as dunst or mako, "
                + "or the one of the desktop"
        case .refused(let name): "the notification service refused a notification (\(name))"
        case .noResources(let reason): "notifications cannot be shown: \(reason)"
        }
    }
}
