import Foundation
import Glibc
import TestSupport

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
        let child = try ChildProgram(["sh", "-c", "cd '\(self.path)' && \(script)"])
        guard child.wait() == 0 else { throw TestFailure(child.errors.all()) }
    }

    deinit {
        // An error is ignored, because the directory is temporary.
        try? FileManager.default.removeItem(atPath: self.path)
    }
}

final class OpenSSLServer: Sendable {
    let port: UInt16
    private let child: ChildProgram

    /// - Parameter arguments: `-rev` answers each line with its reverse; `-WWW` serves the authority's directory over
    ///   HTTP/1.0.
    init(_ authority: TestAuthority, _ arguments: String) throws {
        let server = "exec openssl s_server -accept 127.0.0.1:0 -cert server.pem -key server.key \(arguments)"
        self.child = try ChildProgram(["sh", "-c", "cd '\(authority.path)' && \(server)"])
        let accepting = /(?:^|\n)ACCEPT .*:([0-9]+)\n/
        let said = self.child.output.wait(600) { $0.firstMatch(of: accepting) != nil }
        guard let port = said.firstMatch(of: accepting).flatMap({ UInt16($0.output.1) }) else {
            throw TestFailure("openssl s_server does not listen: \(self.child.errors.wait(0) { _ in true })")
        }
        self.port = port
    }

    func stop() {
        self.child.signal(SIGKILL)
        _ = self.child.wait()
    }
}
