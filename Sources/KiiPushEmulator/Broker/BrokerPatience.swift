/// Time limits for the broker.
package struct BrokerPatience: Sendable, Hashable {
    /// From the broker's start until it accepts connections. Default 60 s.
    package var start = Duration.seconds(60)
    /// From adding clients until the broker admits them; after that the request gets 503. Default 20 s.
    package var grant = Duration.seconds(20)
    /// From a send until the broker's acknowledgement; after that the request gets 503. Default 20 s, less than clients
    /// commonly wait.
    package var publish = Duration.seconds(20)
    /// From the request to end until the broker has saved its sessions and ended; after that it is killed. Default 60
    /// s.
    package var stop = Duration.seconds(60)

    package init() {}
}
