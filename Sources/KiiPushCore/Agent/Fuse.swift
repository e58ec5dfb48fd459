/// Runs an action when the object is released.
final class Fuse: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    deinit { self.action() }
}
