import Foundation
import Glibc
import KiiPushCore

/// A private PostgreSQL. Its files and its socket are in a temporary folder, and it ends with the test process, however
/// that ends.
package final class PostgresServer: Sendable {
    /// A common server for all tests that only need a database.
    private static let shared = Task { try await PostgresServer() }

    package let directory: String
    private let watcher: UncheckedFile
    private let count = Locked(0)

    /// A pipe to the shell that ends the server. The shell sees the pipe close when this process ends.
    private struct UncheckedFile: @unchecked Sendable {
        // Not used after it was opened: only its closing matters.
        let file: UnsafeMutablePointer<FILE>
    }

    /// Starts a server.
    ///
    /// - Parameter settings: settings such as `max_connections=20`.
    package convenience init(_ settings: [String] = ["fsync=off"]) async throws {
        try await self.init(settings, files: "initdb -D data -A trust -U kii -E UTF8 --locale=C --no-sync")
    }

    /// Starts a synchronous standby with a copy of this server's data. Every later commit here waits for it.
    package func makeStandby() async throws -> PostgresServer {
        let standby = try await PostgresServer(
            [], files: "pg_basebackup -h '\(self.directory)' -U kii -D data -R -c fast")
        try await self.run("ALTER SYSTEM SET synchronous_standby_names = '*'", in: "postgres")
        try await self.run("SELECT pg_reload_conf()", in: "postgres")
        try await Self.wait(
            until: "EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')", at: self.target("postgres"))
        return standby
    }

    /// - Parameter files: the program that makes the folder `data`.
    private init(_ settings: [String], files: String) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kii-\(UUID().uuidString)").path
        self.directory = directory
        let options = (["listen_addresses=", "unix_socket_directories=\(directory)"] + settings).map { "-c \($0)" }
        let owner = geteuid() == 0 ? "chown nobody:nogroup '\(directory)'" : ""
        // The shell also removes the folder if this process ends during the setup.
        let end = "cat; kill -QUIT $(head -1 '\(directory)/data/postmaster.pid'); rm -rf '\(directory)'"
        guard let file = popen("(\(end)) > /dev/null 2>&1", "we") else { throw TestFailure("cannot start a shell") }
        self.watcher = UncheckedFile(file: file)
        try await self.run("set -e; mkdir -m 700 '\(directory)'; \(owner)")
        try await self.run(server: files)
        try await self.run(server: "pg_ctl -D data -l log -o '\(options.joined(separator: " "))' -w start")
    }

    /// Runs one of PostgreSQL's programs in the folder. These refuse root, so root becomes the user nobody.
    private func run(server words: String) async throws {
        let become = geteuid() == 0 ? "setpriv --reuid nobody --regid nogroup --clear-groups --" : ""
        try await self.run(
            "cd '\(self.directory)' && \(become) \"$(ls -d /usr/lib/postgresql/*/bin | tail -1)\"/\(words) > /dev/null")
    }

    private func run(_ script: String) async throws {
        let result = try await ForeignProgram("sh", "-c", script).run()
        guard result.status == 0 else { throw TestFailure("PostgreSQL: \(result.errors)") }
    }

    deinit { pclose(self.watcher.file) }

    /// Makes a new database, and returns its connection string.
    package static func database() async throws -> String { try await self.shared.value.makeDatabase() }

    package func makeDatabase() async throws -> String {
        let name = self.count.withLock { count in
            count += 1
            return "test\(count)"
        }
        try await self.run("CREATE DATABASE \(name)", in: "postgres")
        return self.target(name)
    }

    package func target(_ database: String) -> String { "host=\(self.directory) user=kii dbname=\(database)" }

    /// Runs SQL, and returns its output: values separated by `|`.
    @discardableResult
    package func run(_ sql: String, in database: String) async throws -> String {
        try await PostgresServer.run(sql, at: self.target(database))
    }

    @discardableResult
    package static func run(_ sql: String, at target: String) async throws -> String {
        let result = try await ForeignProgram("psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", target, "-c", sql).run()
        guard result.status == 0 else { throw TestFailure("SQL failed: \(result.errors)") }
        return result.output
    }

    /// Waits until an SQL condition holds, with a new transaction every 10 ms.
    package static func wait(until condition: String, at target: String) async throws {
        try await self.run(
            """
            DO $wait$ BEGIN
                LOOP EXIT WHEN \(condition); COMMIT; PERFORM pg_sleep(0.01); END LOOP;
            END $wait$
            """, at: target)
    }

    /// Ends every connection to a database, and refuses new ones.
    package static func close(_ target: String) async throws {
        let (database, server) = Self.parts(of: target)
        try await self.run("ALTER DATABASE \(database) ALLOW_CONNECTIONS false", at: server)
        try await self.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)'", at: server)
    }

    /// - Parameter sql: statements that run before the database accepts connections again.
    package static func reopen(_ target: String, after sql: String? = nil) async throws {
        let (database, server) = Self.parts(of: target)
        if let sql {
            let closed = "\(database)_closed"
            try await self.run("ALTER DATABASE \(database) RENAME TO \(closed)", at: server)
            try await self.run("ALTER DATABASE \(closed) ALLOW_CONNECTIONS true", at: server)
            try await self.run(sql, at: target.replacing("dbname=\(database)", with: "dbname=\(closed)"))
            try await self.run("ALTER DATABASE \(closed) RENAME TO \(database)", at: server)
        }
        try await self.run("ALTER DATABASE \(database) ALLOW_CONNECTIONS true", at: server)
    }

    private static func parts(of target: String) -> (database: String, server: String) {
        let database = target.split(separator: "=").last.map(String.init) ?? ""
        return (database, target.replacing("dbname=\(database)", with: "dbname=postgres"))
    }

    /// Crashes the server, and starts it again.
    package func crash() async throws { try await self.run(server: "pg_ctl -D data -l log -m immediate -w restart") }

    package func end() async throws { try await self.run(server: "pg_ctl -D data -m immediate -w stop") }

    /// Promotes this standby. Its commits wait for no other standby.
    package func promote() async throws {
        try await self.run(server: "pg_ctl -D data -w promote")
    }
}
