import Glibc

/// The unix socket in a state directory by which other processes of the same user reach the process that receives with
/// it.
enum ControlSocket {
    /// The default time that a client waits for an answer.
    static let patience = Duration.seconds(30)

    /// The socket's path. The directory has mode 0700, the socket 0600.
    static func path(in directory: String) -> String { directory + "/control.sock" }

    /// Makes the socket and listens. Only the holder of the directory's lock may call it: it replaces an earlier
    /// process's socket.
    static func listen(in directory: String) throws(FileError) -> FileDescriptor {
        let path = ControlSocket.path(in: directory)
        unlink(path)
        let socket = try ControlSocket.open(in: directory) { descriptor, address, length in
            guard bind(descriptor, address, length) == 0 else { return "bind" }
            guard Glibc.chmod(path, 0o600) == 0 else { return "chmod" }
            return Glibc.listen(descriptor, 16) == 0 ? nil : "listen on"
        }
        // A client that gives up between poll and accept must not make accept wait.
        socket.makeNonBlocking()
        return socket
    }

    /// Connects to the listening process.
    ///
    /// - Parameter patience: the longest time for the process to accept, and to take later requests.
    /// - Throws: ``FileError``: `ENOENT` or `ECONNREFUSED` where no process listens.
    static func connect(
        in directory: String, patience: Duration = ControlSocket.patience
    ) throws(FileError) -> FileDescriptor {
        try ControlSocket.open(in: directory, patience: patience) {
            Glibc.connect($0, $1, $2) == 0 ? nil : "connect to"
        }
    }

    /// - Parameter body: works on a new socket and its address; returns the name of the operation that failed.
    private static func open(
        in directory: String, patience: Duration = ControlSocket.patience,
        _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> String?
    ) throws(FileError) -> FileDescriptor {
        let path = ControlSocket.path(in: directory)
        // unix(7): an address holds 108 bytes, and a state directory's path may be longer; the path of its descriptor
        // is not.
        guard let parent = FileDescriptor(opening: directory, O_RDONLY | O_DIRECTORY) else {
            throw .system(path: directory, operation: "open", code: errno)
        }
        guard let socket = FileDescriptor(socket: AF_UNIX) else {
            throw .system(path: path, operation: "make", code: errno)
        }
        // A stopped process, or one with its limit of clients, must not block connect(2) for ever.
        socket.limit(SO_SNDTIMEO, to: patience)
        let address = sockaddr_un(ControlSocket.path(in: "/proc/self/fd/\(parent.number)").utf8)
        let failed = withExtendedLifetime(parent) { address.withAddress { body(socket.number, $0, $1) } }
        guard let failed else { return socket }
        throw .system(path: path, operation: failed, code: errno)
    }
}
