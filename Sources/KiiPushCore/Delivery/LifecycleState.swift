/// Where the program stands between the user and the background.
///
/// - Source: `UIApplication.State`; "not running" is that of the launch detection document.
public enum LifecycleState: String, Sendable, Hashable, CaseIterable {
    /// The program does not run. A running one never sees this: it is where a message finds it that it is launched for.
    case notRunning
    /// In the foreground without the user's attention: on the way in or out, or behind an app switcher.
    case inactive
    /// In the foreground, in use. A program without a user is always here.
    case active
    /// Running where the user does not see it.
    case background
}
