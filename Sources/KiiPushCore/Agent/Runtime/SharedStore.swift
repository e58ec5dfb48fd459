/// Opens a store that this process shares with others, on the other side of a network.
package protocol SharedStore: Sendable {
    /// Opens the store. The loop's thread makes one call at a time; `completion` runs on that thread, in a later turn.
    func open(
        for configuration: PushRuntime.Configuration, on loop: EventLoop,
        completion: @escaping @Sendable (Result<any Store, PushAgentError>) -> Void)
}
