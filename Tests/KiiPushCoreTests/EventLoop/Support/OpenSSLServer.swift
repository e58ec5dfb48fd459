import Foundation
import Glibc

/// A directory with a certificate authority of its own and a certificate for `localhost`, removed with the object.
final class TestAuthority: Sendable {
    let path: String
    var caFile: String { self.path + "/ca.pem" }

    init() throws {
        self.path = NSTemporaryDirectory() + "authority-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
        let script = """
            openssl req -x509 \(key) -keyout ca.key -out ca.pem -subj '/CN=Test authority' &&
            openssl req -new \(key) -keyout server.key -out server.csr -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost &&
            openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
                -copy_extensions copy -out server.pem
            """
        let child = try ChildProcess("{ \(script); } 2>/dev/null && echo done", in: self.path)
        guard child.waitForLine(startingWith: "done") != nil else { throw POSIXError(.EINVAL) }
        child.stop()
    }

    deinit {
        // Nothing depends on it: what is left behind is in the directory for temporary files.
        try? FileManager.default.removeItem(atPath: self.path)
    }
}

/// `openssl s_server` with the authority's certificate for `localhost`, on a port of the system's choice.
final class OpenSSLServer: Sendable {
    let port: UInt16
    private let child: ChildProcess

    /// `-rev` answers each line with its reverse; `-WWW` serves the authority's directory over HTTP/1.0.
    init(_ authority: TestAuthority, _ arguments: String) throws {
        self.child = try ChildProcess(
            "exec openssl s_server -accept 127.0.0.1:0 -cert server.pem -key server.key \(arguments) 2>/dev/null",
            in: authority.path)
        guard let line = self.child.waitForLine(startingWith: "ACCEPT "),
            let port = line.split(separator: ":").last.flatMap({ UInt16($0) })
        else { throw POSIXError(.ECHILD) }
        self.port = port
    }

    func stop() { self.child.stop() }
}

/// A shell command that runs beside the test.
private final class ChildProcess: Sendable {
    private let id: pid_t
    // Kept open to the end: a child that writes to a closed pipe dies of it.
    private let output: Int32

    init(_ command: String, in directory: String) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var arguments: [UnsafeMutablePointer<CChar>?] = ["sh", "-c", "cd '\(directory)' && \(command)"]
            .map { (text: String) in strdup(text) }
        arguments.append(nil)
        var id = pid_t()
        let code = posix_spawn(&id, "/bin/sh", &actions, nil, &arguments, environ)
        for argument in arguments { free(argument) }
        posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        guard code == 0 else { throw POSIXError(.ECHILD) }
        self.id = id
        self.output = ends[0]
    }

    deinit {
        close(self.output)
    }

    func waitForLine(startingWith prefix: String) -> String? {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(self.output, &buffer, buffer.count)
            guard count > 0 else { return nil }
            text += String(decoding: buffer[..<count], as: UTF8.self)
            let whole = text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1)
            if let line = whole.first(where: { $0.hasPrefix(prefix) }) { return String(line) }
        }
    }

    func stop() {
        kill(self.id, SIGKILL)
        waitpid(self.id, nil, 0)
    }
}
