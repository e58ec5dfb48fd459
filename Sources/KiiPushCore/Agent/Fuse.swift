/// Does something when the last one who holds it lets go of it.
final class Fuse: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    deinit { self.action() }
}
