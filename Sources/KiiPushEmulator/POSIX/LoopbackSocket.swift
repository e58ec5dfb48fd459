import Glibc
import KiiPushCore

enum LoopbackSocket {
    /// Linux uses ports from 32768 (by default) for outgoing connections. Below 32768, no client takes the port of a
    /// stopped emulator, and endpoints stay valid.
    private static let chosenPorts: Range<UInt16> = 10_000..<32_768
    /// The process does not choose these ports again, so an emulator that restarts finds its ports free.
    private static let usedPorts = Locked<Set<UInt16>>([])

    /// Listens at once, so that the port is known before the first request. With port 0, uses `preferred` if it is
    /// free, or any other port.
    static func listener(on port: UInt16, preferred: UInt16) throws(EmulatorError) -> FileDescriptor {
        if port == 0, preferred != 0, let socket = try LoopbackSocket.listening(on: preferred) { return socket }
        if let socket = try LoopbackSocket.listening(on: port) { return socket }
        throw EmulatorError(.portInUse(port), "port \(port) of 127.0.0.1 is taken")
    }

    /// `nil` if the port is in use; 0 uses any free port.
    static func listening(on port: UInt16) throws(EmulatorError) -> FileDescriptor? {
        guard port == 0 else {
            LoopbackSocket.usedPorts.withLock { _ = $0.insert(port) }
            return try LoopbackSocket.bound(to: port)
        }
        for _ in 0..<64 {
            let port = UInt16.random(in: LoopbackSocket.chosenPorts)
            guard LoopbackSocket.usedPorts.withLock({ $0.insert(port).inserted }) else { continue }
            if let socket = try LoopbackSocket.bound(to: port) { return socket }
        }
        return try LoopbackSocket.bound(to: 0)
    }

    private static func bound(to port: UInt16) throws(EmulatorError) -> FileDescriptor? {
        // Allows a port whose last connections are still in TIME_WAIT.
        let socket = try LoopbackSocket.make(with: SO_REUSEADDR, of: SOL_SOCKET)
        let bound = LoopbackSocket.withAddress(port: port) { bind(socket.number, $0, $1) }
        guard bound == 0, listen(socket.number, 1024) == 0 else {
            if errno == EADDRINUSE { return nil }
            throw .system("listen on port \(port) of 127.0.0.1", errno)
        }
        return socket
    }

    static func port(of socket: FileDescriptor) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket.number, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// A port that was free a moment ago: `port`, or any port if `port` is 0; `nil` if `port` is in use.
    static func freePort(preferring port: UInt16 = 0) throws(EmulatorError) -> UInt16? {
        guard let socket = try LoopbackSocket.listening(on: port) else { return nil }
        return LoopbackSocket.port(of: socket)
    }

    static let address: UInt32 = 0x7f00_0001

    /// `nil` if the connection fails. The loopback interface usually answers at once.
    ///
    /// - Parameter address: the local address of the connection. If the address is unavailable, the kernel chooses
    ///   another.
    static func connected(
        to port: UInt16, from address: UInt32 = LoopbackSocket.address
    ) throws(EmulatorError) -> FileDescriptor? {
        let socket = try LoopbackSocket.make(with: TCP_NODELAY, of: Int32(IPPROTO_TCP))
        if address != LoopbackSocket.address {
            _ = LoopbackSocket.withAddress(address, port: 0) { bind(socket.number, $0, $1) }
        }
        guard LoopbackSocket.withAddress(port: port, { connect(socket.number, $0, $1) }) == 0 else { return nil }
        return socket
    }

    private static func make(with option: Int32, of level: Int32) throws(EmulatorError) -> FileDescriptor {
        guard let made = FileDescriptor(socket: AF_INET) else { throw .system("make a socket", errno) }
        var one: Int32 = 1
        setsockopt(made.number, level, option, &one, socklen_t(MemoryLayout<Int32>.size))
        return made
    }

    private static func withAddress(
        _ number: UInt32 = LoopbackSocket.address, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = number.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
