import Glibc
import KiiPushCore

/// A TCP proxy on 127.0.0.1 between receivers and their broker, which does to connections what networks do.
///
/// It knows MQTT enough to count packets and to hold, drop, double or renumber a given one; a stream that is no MQTT,
/// such as TLS, passes as it is and can be cut, delayed and split all the same. MQTT in a WebSocket, with TLS or without,
/// it takes out: the broker gets plain MQTT, to which all the same can happen. It runs on one thread of its own.
///
/// An emulator plays scripts of faults with it (``FaultScript``), and so do the tests and the fault runner.
package final class PacketProxy<Observer: ProxyObserver>: Sendable {
    /// Where receivers connect.
    private let ports: [BrokerTransport: UInt16]
    /// Told of all that passes.
    package let observer: Observer
    private let thread = PollThread<ProxyLoop.Command>(name: "kii-proxy")

    /// Begins to listen; what connects is reset until ``forward(to:)`` says where to.
    ///
    /// - Parameter port: the port asked for; 0 takes `preferred` if it is free, else any.
    package convenience init(
        port: UInt16 = 0, preferred: UInt16 = 0, observer: Observer
    ) throws(EmulatorError) {
        try self.init([ProxyListener(.tcp, on: port, preferred: preferred)], observer: observer)
    }

    /// As ``init(port:preferred:observer:)``, on a port for each transport.
    init(_ listeners: [ProxyListener], observer: Observer) throws(EmulatorError) {
        // A client reads why its WebSocket ends.
        let closing = listeners.contains { $0.transport.isWebSocket } ? try ClosingConnections() : nil
        self.ports = Dictionary(listeners.map { ($0.transport, $0.port) }) { $1 }
        self.observer = observer
        do throws(EmulatorError) {
            try self.thread.run { ProxyLoop(listeners: listeners, observer: observer, closing: closing) }
        } catch {
            closing?.stop()
            throw error
        }
    }

    deinit { self.stop() }

    /// Where receivers connect by TCP.
    package var port: UInt16 { self.port(for: .tcp) }

    /// Where receivers connect; 0 for nowhere.
    func port(for transport: BrokerTransport) -> UInt16 { self.ports[transport] ?? 0 }

    /// Closes everything and ends the thread; blocks for a moment. Only the first call does anything.
    package func stop() {
        self.thread.stop()
        self.thread.join()
    }

    /// Names the broker's port; what connects afterwards gets there.
    package func forward(to port: UInt16) async {
        await self.perform(or: ()) { $0.upstream = port }
    }

    /// Calls `body` on the proxy's thread if no connection stands; `false` if one does.
    package func whileIdle(_ body: @escaping @Sendable () -> Void) async -> Bool {
        await self.perform(or: false) { loop in
            if loop.isIdle { body() }
            return loop.isIdle
        }
    }

    /// Changes what happens to everything that passes from now on, and returns when it holds.
    package func change(_ body: @escaping @Sendable (inout ProxyPlan) -> Void) async {
        await self.perform(or: ()) { body(&$0.rules.plan) }
    }

    /// Cuts all connections and returns how many there were.
    @discardableResult
    package func cut(_ cut: Cut) async -> Int {
        await self.perform(or: 0) { $0.cutAll(cut) }
    }

    /// Lets what goes over the present connections in these directions disappear; connections made later are whole.
    @discardableResult
    package func swallow(_ directions: Set<Direction>) async -> Int {
        await self.perform(or: 0) { $0.swallow(directions) }
    }

    /// Sets a rule and returns when it holds. What it returns waits for the rule to be met and carried out.
    ///
    /// - Parameter body: called on the proxy's thread, right after the rule was carried out.
    package func arm(_ rule: PacketRule, then body: @escaping @Sendable () -> Void = {}) async -> Firing {
        let firing = Firing(body)
        await self.perform(or: ()) { $0.rules.arm(rule, fired: firing.happen) }
        return firing
    }

    /// The same where the proxy cannot read what passes.
    package func arm(_ rule: ByteRule, then body: @escaping @Sendable () -> Void = {}) async -> Firing {
        let firing = Firing(body)
        await self.perform(or: ()) { $0.rules.arm(rule, fired: firing.happen) }
        return firing
    }

    /// Has the proxy's thread carry out a command, and does not wait for it.
    func tell(_ command: @escaping ProxyLoop.Command) { self.thread.send(command) }

    /// - Parameter stopped: what is returned of a proxy that was stopped.
    private func perform<Result: Sendable>(
        or stopped: Result, _ body: @escaping @Sendable (ProxyLoop) -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            let isOpen = self.thread.send { continuation.resume(returning: body($0)) }
            if !isOpen { continuation.resume(returning: stopped) }
        }
    }

    /// Something that happens once.
    package final class Firing: Sendable {
        private let happened = Locked(false)
        private let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }

        /// Whether it has happened.
        package var hasHappened: Bool { self.happened.withLock { $0 } }

        @Sendable func happen() {
            self.body()
            self.happened.withLock { $0 = true }
        }
    }
}
