/// Runs an action when its last owner releases it.
final class Fuse: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    deinit { self.action() }
}
