import Foundation
import Glibc
import KiiPushCore

/// A TCP proxy on 127.0.0.1 between a receiver and its broker, which does to the connection what networks do.
///
/// It knows MQTT enough to count packets and to drop, double or renumber a given one; a stream that is no MQTT, such as
/// TLS, passes as it is and can be cut, delayed and split all the same. All of it happens on one thread of its own.
package final class FaultProxy: Sendable {
    /// Where receivers connect.
    package let port: UInt16
    private let mailbox: ProxyMailbox
    private let observed: Locked<Traffic>

    /// Begins to listen; what connects is reset until ``forward(to:)`` says where to.
    package init() throws {
        let listener = try ProxySocket.listen()
        self.port = listener.port
        let mailbox = try ProxyMailbox()
        let observed = Locked(Traffic())
        self.mailbox = mailbox
        self.observed = observed
        Thread.detachNewThread {
            ProxyLoop(listener: listener.descriptor, mailbox: mailbox, traffic: observed).run()
        }
    }

    deinit { self.stop() }

    /// Closes everything and ends the thread.
    package func stop() {
        self.mailbox.post { $0.isStopped = true }
    }

    /// Names the broker's port; what connects afterwards gets there.
    package func forward(to port: UInt16) async {
        await self.perform { $0.upstream = port }
    }

    /// What has passed so far.
    package var traffic: Traffic { self.observed.withLock { $0 } }

    /// Counts from nothing, once the connections so far have ended.
    package func forgetTraffic() async {
        while await !self.perform({ $0.forgetTraffic() }) { try? await Task.sleep(for: .milliseconds(1)) }
    }

    /// Changes what happens to everything that passes from now on, and returns when it holds.
    package func change(_ body: @escaping @Sendable (inout ProxyPlan) -> Void) async {
        await self.perform { body(&$0.rules.plan) }
    }

    /// Cuts all connections and returns how many there were.
    @discardableResult
    package func cut(_ cut: Cut) async -> Int {
        await self.perform { $0.cutAll(cut) }
    }

    /// Lets what goes over the present connections in these directions disappear; connections made later are whole.
    @discardableResult
    package func swallow(_ directions: Set<Direction>) async -> Int {
        await self.perform { $0.swallow(directions) }
    }

    /// Sets a rule and returns when it holds. What it returns waits for the rule to be met and carried out.
    ///
    /// - Parameter body: called on the proxy's thread, right after the rule was carried out.
    package func arm(_ rule: PacketRule, then body: @escaping @Sendable () -> Void = {}) async -> Firing {
        let firing = Firing(body)
        await self.perform { $0.rules.arm(rule, fired: firing.happen) }
        return firing
    }

    /// The same where the proxy cannot read what passes.
    package func arm(_ rule: ByteRule, then body: @escaping @Sendable () -> Void = {}) async -> Firing {
        let firing = Firing(body)
        await self.perform { $0.rules.arm(rule, fired: firing.happen) }
        return firing
    }

    private func perform<Result: Sendable>(_ body: @escaping @Sendable (ProxyLoop) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            self.mailbox.post { continuation.resume(returning: body($0)) }
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

/// What other threads want of the proxy's.
final class ProxyMailbox: Sendable {
    private let commands = Locked<[@Sendable (ProxyLoop) -> Void]>([])
    /// Readable while commands wait.
    let descriptor: Int32
    private let signal: Int32

    init() throws {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw FaultError("no pair of sockets: errno \(errno)") }
        (self.descriptor, self.signal) = (pair[0], pair[1])
    }

    deinit {
        close(self.descriptor)
        close(self.signal)
    }

    func post(_ command: @escaping @Sendable (ProxyLoop) -> Void) {
        self.commands.withLock { $0.append(command) }
        var byte: UInt8 = 1
        // A full buffer means that a wake-up is pending already.
        _ = send(self.signal, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    func takeAll() -> [@Sendable (ProxyLoop) -> Void] {
        var bytes = [UInt8](repeating: 0, count: 64)
        while recv(self.descriptor, &bytes, bytes.count, 0) > 0 {}
        return self.commands.withLock { commands in
            let taken = commands
            commands = []
            return taken
        }
    }
}
