import Glibc
import TestSupport

/// Ports on 127.0.0.1 that were free a moment ago.
enum FreePorts {
    static func find(_ count: Int) throws -> [UInt16] {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        return try (0..<count).map { _ in
            let socket = try Loopback.bound()
            descriptors.append(socket.descriptor)
            return socket.port
        }
    }
}
