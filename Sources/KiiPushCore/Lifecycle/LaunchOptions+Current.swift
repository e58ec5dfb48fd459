extension LaunchOptions {
    /// What this process was started for: the first message of an ``Activator`` (or `kii-push run --activate`); empty when
    /// it was started in another way.
    ///
    /// Reads the message when it is first asked for, which takes next to no time: it is sent when the process begins. Where
    /// the variable `KII_PUSH_LAUNCH_FD` is forged this is empty, and ``PushAgent/run()`` throws
    /// ``PushAgentError/launch(reason:)``.
    ///
    /// ```swift
    /// let lifecycle = AgentLifecycle(launchOptions: .current)
    /// ```
    public static var current: LaunchOptions {
        guard case .success(let channel?) = LaunchChannel.inherited else { return LaunchOptions() }
        return channel.launchOptions
    }
}
