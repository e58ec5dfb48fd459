import Glibc

/// The unix socket in a state directory by which other processes of the same user reach the one that receives with it.
enum ControlSocket {
    /// How long a client waits for an answer, if it does not say so.
    static let patience = Duration.seconds(30)

    /// Where it is. The directory has mode 0700, the socket 0600.
    static func path(in directory: String) -> String { directory + "/control.sock" }

    /// Makes the socket and listens. Only for who holds the directory's lock: what an earlier process left is replaced.
    static func listen(in directory: String) throws(FileError) -> Int32 {
        let path = ControlSocket.path(in: directory)
        unlink(path)
        let descriptor = try ControlSocket.open(in: directory) { descriptor, address, length in
            guard bind(descriptor, address, length) == 0 else { return "bind" }
            guard Glibc.chmod(path, 0o600) == 0 else { return "chmod" }
            return Glibc.listen(descriptor, 16) == 0 ? nil : "listen on"
        }
        // A client that gives up between poll and accept must not make accept wait.
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return descriptor
    }

    /// Connects to the process that listens.
    ///
    /// - Parameter patience: how long it may take to accept, and to take what is sent later.
    /// - Throws: ``FileError``: `ENOENT` or `ECONNREFUSED` where none does.
    static func connect(
        in directory: String, patience: Duration = ControlSocket.patience
    ) throws(FileError) -> Int32 {
        try ControlSocket.open(in: directory, patience: patience) {
            Glibc.connect($0, $1, $2) == 0 ? nil : "connect to"
        }
    }

    /// Sets how long a call may wait.
    static func limit(_ option: Int32, of descriptor: Int32, to patience: Duration) {
        let (seconds, attoseconds) = patience.components
        var limit = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// - Parameter body: what to do with a new socket and its address; returns the name of what failed.
    private static func open(
        in directory: String, patience: Duration = ControlSocket.patience,
        _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> String?
    ) throws(FileError) -> Int32 {
        let path = ControlSocket.path(in: directory)
        // unix(7): an address holds 108 bytes, and a state directory's path may be longer; its descriptor's is not.
        let parent = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw .system(path: directory, operation: "open", code: errno) }
        defer { close(parent) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(path: path, operation: "make", code: errno) }
        // A process that is stopped, or has as many clients as it takes, is not waited for without end.
        ControlSocket.limit(SO_SNDTIMEO, of: descriptor, to: patience)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(ControlSocket.path(in: "/proc/self/fd/\(parent)").utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let failed = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard let failed else { return descriptor }
        let code = errno
        close(descriptor)
        throw .system(path: path, operation: failed, code: code)
    }
}
