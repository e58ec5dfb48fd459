import Glibc

/// The unix socket in a state directory. Over it, processes of the same user reach the process that receives with the
/// directory.
enum ControlSocket {
    static let patience = Duration.seconds(30)

    /// The socket has mode 0600; a directory that this library made has mode 0700.
    static func path(in directory: String) -> String { directory + "/control.sock" }

    /// Replaces the socket of an earlier process, so the caller must hold the directory's lock.
    static func listen(in directory: String) throws(FileError) -> FileDescriptor {
        let path = ControlSocket.path(in: directory)
        unlink(path)
        let socket = try ControlSocket.open(in: directory) { descriptor, address, length in
            guard bind(descriptor, address, length) == 0 else { return "bind" }
            guard Glibc.chmod(path, 0o600) == 0 else { return "chmod" }
            return Glibc.listen(descriptor, 16) == 0 ? nil : "listen on"
        }
        // A client may give up between poll(2) and accept(2). Then accept(2) must not block.
        socket.makeNonBlocking()
        return socket
    }

    /// - Parameter patience: the time limit for connecting and for each later send.
    /// - Throws: ``FileError`` with `ENOENT` or `ECONNREFUSED` if no process listens.
    static func connect(
        in directory: String, patience: Duration = ControlSocket.patience
    ) throws(FileError) -> FileDescriptor {
        try ControlSocket.open(in: directory, patience: patience) {
            Glibc.connect($0, $1, $2) == 0 ? nil : "connect to"
        }
    }

    private static func open(
        in directory: String, patience: Duration = ControlSocket.patience,
        _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> String?
    ) throws(FileError) -> FileDescriptor {
        let path = ControlSocket.path(in: directory)
        // unix(7): an address holds 108 bytes. The path of the state directory may be longer; the path of its
        // descriptor is short.
        guard let parent = FileDescriptor(opening: directory, O_RDONLY | O_DIRECTORY) else {
            throw .system(path: directory, operation: "open", code: errno)
        }
        guard let socket = FileDescriptor(socket: AF_UNIX) else {
            throw .system(path: path, operation: "make", code: errno)
        }
        // connect(2) must not block for ever if the receiving process is stopped or has too many clients.
        socket.limit(SO_SNDTIMEO, to: patience)
        let address = sockaddr_un(ControlSocket.path(in: "/proc/self/fd/\(parent.number)").utf8)
        let failed = withExtendedLifetime(parent) { address.withAddress { body(socket.number, $0, $1) } }
        guard let failed else { return socket }
        throw .system(path: path, operation: failed, code: errno)
    }
}
