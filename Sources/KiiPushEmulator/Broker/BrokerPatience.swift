package struct BrokerPatience: Sendable, Hashable {
    /// From the broker's start until it accepts connections. Default 60 s.
    package var start = Duration.seconds(60)
    /// From adding clients until the broker accepts them; after a longer time, the request gets 503. Default 20 s.
    package var grant = Duration.seconds(20)
    /// From a send until the broker's acknowledgement; after a longer time, the request gets 503. Default 20 s, less
    /// than the usual timeout of HTTP clients.
    package var publish = Duration.seconds(20)
    /// From the request to stop until the broker has saved its sessions and ended; after a longer time, it is killed.
    /// Default 60 s.
    package var stop = Duration.seconds(60)

    package init() {}
}
