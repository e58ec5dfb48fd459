import Glibc
import TestSupport

/// Ports on 127.0.0.1 that nobody listened on a moment ago.
enum FreePorts {
    /// So many, each another one.
    static func find(_ count: Int) throws -> [UInt16] {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        return try (0..<count).map { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            descriptors.append(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
                }
            }
            guard isBound else { throw TestFailure("no port is free on the loopback interface: errno \(errno)") }
            return UInt16(bigEndian: address.sin_port)
        }
    }
}
