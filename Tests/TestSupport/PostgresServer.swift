import Foundation
import Glibc
import KiiPushCore

/// A PostgreSQL of a test process's own: its files and its socket are in a temporary folder, and it ends with the process,
/// however that ends.
package final class PostgresServer: Sendable {
    /// One for all tests that only need a database each.
    private static let shared = Task { try await PostgresServer() }

    /// Its folder, with its socket.
    package let directory: String
    private let watcher: UncheckedFile
    private let count = Locked(0)

    /// What is written to it ends with this process.
    private struct UncheckedFile: @unchecked Sendable {
        // Never touched after it was opened: what counts is that it closes.
        let file: UnsafeMutablePointer<FILE>
    }

    /// Starts a server.
    ///
    /// - Parameter settings: such as `max_connections=20`.
    package convenience init(_ settings: [String] = ["fsync=off"]) async throws {
        try await self.init(settings, files: "initdb -D data -A trust -U kii -E UTF8 --locale=C --no-sync")
    }

    /// Starts a server that has what this one has, and that every commit here waits for from now on.
    package func makeStandby() async throws -> PostgresServer {
        let standby = try await PostgresServer(
            [], files: "pg_basebackup -h '\(self.directory)' -U kii -D data -R -c fast")
        try await self.run("ALTER SYSTEM SET synchronous_standby_names = '*'", in: "postgres")
        try await self.run("SELECT pg_reload_conf()", in: "postgres")
        try await Self.wait(
            until: "EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')", at: self.target("postgres"))
        return standby
    }

    /// - Parameter files: the program that makes `data`.
    private init(_ settings: [String], files: String) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kii-\(UUID().uuidString)").path
        self.directory = directory
        let options = (["listen_addresses=", "unix_socket_directories=\(directory)"] + settings).map { "-c \($0)" }
        let owner = geteuid() == 0 ? "chown nobody:nogroup '\(directory)'" : ""
        // The folder goes where this process ends in the middle of it, too.
        let end = "cat; kill -QUIT $(head -1 '\(directory)/data/postmaster.pid'); rm -rf '\(directory)'"
        guard let file = popen("(\(end)) > /dev/null 2>&1", "we") else { throw TestFailure("cannot start a shell") }
        self.watcher = UncheckedFile(file: file)
        try await self.run("set -e; mkdir -m 700 '\(directory)'; \(owner)")
        try await self.run(server: files)
        try await self.run(server: "pg_ctl -D data -l log -o '\(options.joined(separator: " "))' -w start")
    }

    /// Runs a program of the server's in its folder. Not as root, whom they refuse.
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

    /// Makes a database of one's own, and says how to connect to it.
    package static func database() async throws -> String { try await self.shared.value.makeDatabase() }

    package func makeDatabase() async throws -> String {
        let name = self.count.withLock { count in
            count += 1
            return "test\(count)"
        }
        try await self.run("CREATE DATABASE \(name)", in: "postgres")
        return self.target(name)
    }

    /// The keywords for a connection.
    package func target(_ database: String) -> String { "host=\(self.directory) user=kii dbname=\(database)" }

    /// Runs SQL, and returns what it prints: values with `|` between them.
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

    /// Waits until a condition in SQL holds, looking again every 10 ms in transactions of their own.
    package static func wait(until condition: String, at target: String) async throws {
        try await self.run(
            """
            DO $wait$ BEGIN
                LOOP EXIT WHEN \(condition); COMMIT; PERFORM pg_sleep(0.01); END LOOP;
            END $wait$
            """, at: target)
    }

    /// Ends every connection to a database, and lets nobody connect.
    package static func close(_ target: String) async throws {
        let (database, server) = Self.parts(of: target)
        try await self.run("ALTER DATABASE \(database) ALLOW_CONNECTIONS false", at: server)
        try await self.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)'", at: server)
    }

    /// - Parameter sql: what is done to it first, before anybody else is let in.
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

    /// Ends the server as a crash does, and starts it again.
    package func crash() async throws { try await self.run(server: "pg_ctl -D data -l log -m immediate -w restart") }

    /// Ends the server as a crash does.
    package func end() async throws { try await self.run(server: "pg_ctl -D data -m immediate -w stop") }

    /// Has a standby take the place of the server that it follows. It waits for no standby of its own.
    package func promote() async throws {
        try await self.run(server: "pg_ctl -D data -w promote")
    }
}
