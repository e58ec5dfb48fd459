import Glibc
import KiiPushCore

/// A TCP proxy on 127.0.0.1 between receivers and their broker, for simulated network faults.
///
/// It holds, drops, repeats and renumbers MQTT packets. It can cut, delay, split and drop TLS and other unreadable
/// streams, but not change them. WebSocket connections end at the proxy, and the broker gets plain MQTT.
package final class PacketProxy<Observer: ProxyObserver>: Sendable {
    private let ports: [BrokerTransport: UInt16]
    package let observer: Observer
    private let thread = PollThread<ProxyLoop.Command>(name: "kii-proxy")

    /// - Parameter transports: the transports of the clients, without TLS. Each gets its own free port.
    package convenience init(_ transports: [BrokerTransport], observer: Observer) throws(EmulatorError) {
        let listeners = try transports.map { transport throws(EmulatorError) in
            try ProxyListener(transport, on: 0, preferred: 0)
        }
        try self.init(listeners, observer: observer)
    }

    init(_ listeners: [ProxyListener], observer: Observer) throws(EmulatorError) {
        // Needed for WebSocket clients, which have to read why their connection ends.
        let closing = listeners.contains { $0.transport.isWebSocket } ? try ClosingConnections() : nil
        self.ports = Dictionary(listeners.map { ($0.transport, $0.port) }) { $1 }
        self.observer = observer
        try self.thread.run { ProxyLoop(listeners: listeners, observer: observer, closing: closing) }
    }

    deinit { self.stop() }

    package var port: UInt16 { self.port(for: .tcp) }

    /// The port for receivers with this transport; 0 if there is none.
    package func port(for transport: BrokerTransport) -> UInt16 { self.ports[transport] ?? 0 }

    package func stop() {
        self.thread.stop()
        self.thread.join()
    }

    package func forward(to port: UInt16) async {
        await self.perform(or: ()) { $0.upstream = port }
    }

    /// Calls `body` if there is no connection, and returns whether it did.
    package func whileIdle(_ body: @escaping @Sendable () -> Void) async -> Bool {
        await self.perform(or: false) { loop in
            if loop.isIdle { body() }
            return loop.isIdle
        }
    }

    package func change(_ body: @escaping @Sendable (inout ProxyPlan) -> Void) async {
        await self.perform(or: ()) { body(&$0.rules.plan) }
    }

    @discardableResult
    package func cut(_ cut: Cut) async -> Int {
        await self.perform(or: 0) { $0.cutAll(cut) }
    }

    /// Drops all further bytes of the present connections in these directions, and returns the number of connections.
    @discardableResult
    package func swallow(_ directions: Set<Direction>) async -> Int {
        await self.perform(or: 0) { $0.swallow(directions) }
    }

    /// Returns when the rule is in force. The returned value tells later whether the rule was carried out.
    ///
    /// - Parameter body: called on the proxy's thread, soon after the rule was carried out.
    package func arm(_ rule: PacketRule, then body: @escaping @Sendable () -> Void = {}) async -> Firing {
        let firing = Firing(body)
        await self.perform(or: ()) { $0.rules.arm(rule, fired: firing.happen) }
        return firing
    }

    /// Adds a rule for streams that the proxy cannot read, such as TLS.
    package func arm(_ rule: ByteRule, then body: @escaping @Sendable () -> Void = {}) async -> Firing {
        let firing = Firing(body)
        await self.perform(or: ()) { $0.rules.arm(rule, fired: firing.happen) }
        return firing
    }

    func tell(_ command: @escaping ProxyLoop.Command) { self.thread.send(command) }

    private func perform<Result: Sendable>(
        or stopped: Result, _ body: @escaping @Sendable (ProxyLoop) -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            let isOpen = self.thread.send { continuation.resume(returning: body($0)) }
            if !isOpen { continuation.resume(returning: stopped) }
        }
    }

    package final class Firing: Sendable {
        private let happened = Locked(false)
        private let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }

        package var hasHappened: Bool { self.happened.withLock { $0 } }

        @Sendable func happen() {
            self.body()
            self.happened.withLock { $0 = true }
        }
    }
}
