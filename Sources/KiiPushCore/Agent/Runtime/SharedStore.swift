/// Opens a store across a network that several processes share.
package protocol SharedStore: Sendable {
    /// The loop's thread makes one call at a time; `completion` runs on that thread, in a later turn.
    func open(
        for configuration: PushRuntime.Configuration, on loop: EventLoop,
        completion: @escaping @Sendable (Result<any Store, PushAgentError>) -> Void)
}
