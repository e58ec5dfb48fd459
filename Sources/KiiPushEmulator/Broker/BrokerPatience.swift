/// How long the emulator waits for its broker.
package struct BrokerPatience: Sendable, Hashable {
    /// From its start until it takes connections. Default 60 s.
    package var start = Duration.seconds(60)
    /// From being told of new clients until it lets them in; then the request is answered with 503. Default 20 s.
    package var grant = Duration.seconds(20)
    /// From a send until it is acknowledged; then the answer is 503. Default 20 s, less than clients commonly wait.
    package var publish = Duration.seconds(20)
    /// From being told to end until its sessions are saved and it has ended; then it is killed. Default 60 s.
    package var stop = Duration.seconds(60)

    package init() {}
}
