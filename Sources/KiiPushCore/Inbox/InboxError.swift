import CSQLite
import Glibc

/// An inbox error: the step that failed, and the codes of SQLite, the system or a database server. Contains no row,
/// topic or payload.
package struct InboxError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// The disk or the quota is full. An open transaction was rolled back, and the caller may retry.
        case full
        case corrupt
        case newerVersion(Int)
        /// The file is empty or half made, and this process opened it read-only.
        case notMade
        case locked
        /// The path names a link, a directory or another file that is not regular.
        case notAFile
        case notPermitted, cannotOpen, io
        /// The database is unreachable, or the connection to it broke.
        case away
        /// The database's address is unreadable, or asks for a connection that others could read.
        case badAddress
        /// The database lacks this library's tables, or cannot hold them.
        case noSchema
        /// Tables, functions or foreign keys are missing, as while a backup is being restored.
        case halfMade
        /// Another database role owns an object in the database, and could use it to run code as this process's role.
        case notTrusted
        /// This process's lease ended, and other processes have taken over its work.
        case fenced
        case nameTaken(host: String, processID: Int)
        /// The database is older than this process's last commit, and lacks at least `missing` messages. `nil`: the
        /// database does not know this process.
        case restored(missing: Int?)
        case nameInUse(host: String, processID: Int, timeLeft: Duration)
        /// Another agent already receives for this installation.
        case ofAnother
        case other
    }

    package var kind: Kind
    /// 0 if the error is not SQLite's.
    package var code: Int32 { self.extendedCode & 0xFF }
    package var extendedCode: Int32
    /// The `errno` of the failed system call; 0 if there was none.
    package var systemError: Int32
    /// The SQLSTATE of a database server, five characters such as `53100`; `nil` if the error is not a server's.
    package var sqlState: String?
    package var step: String

    package init(
        _ kind: Kind, step: String, extendedCode: Int32 = 0, systemError: Int32 = 0, sqlState: String? = nil
    ) {
        (self.kind, self.step, self.sqlState) = (kind, step, sqlState)
        (self.extendedCode, self.systemError) = (extendedCode, systemError)
    }

    /// On a full disk, SQLite returns `SQLITE_FULL` if write(2) fails with ENOSPC. If it cannot make a file, it tries to
    /// read the file, and returns `SQLITE_CANTOPEN` with ENOENT. Otherwise it returns `SQLITE_IOERR` with an `errno`.
    init(extendedCode: Int32, systemError: Int32, step: String) {
        let kind: Kind =
            switch extendedCode & 0xFF {
            case SQLITE_FULL: .full
            case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .locked
            // SQLITE_READONLY_ROLLBACK: the file's creation was interrupted. A finished inbox has no rollback journal.
            case SQLITE_READONLY where extendedCode == SQLITE_READONLY | 3 << 8: .notMade
            case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .notPermitted
            case SQLITE_CANTOPEN: .cannotOpen
            case SQLITE_IOERR: systemError == ENOSPC || systemError == EDQUOT ? .full : .io
            default: .other
            }
        self.init(kind, step: step, extendedCode: extendedCode, systemError: systemError)
    }

    /// Whether this process must stop writing for good.
    package var isFinal: Bool {
        switch self.kind {
        case .fenced, .nameTaken, .restored(.some): true
        default: false
        }
    }

    package var advice: String {
        switch self.kind {
        case .full where self.sqlState != nil:
            "free some space for the database; nothing is acknowledged until there is"
        case .full:
            "free some space on the disk (an inbox needs \(InboxShares.leastRoom >> 20) MiB at least, and more for what "
                + "waits); nothing is acknowledged until there is"
        case .corrupt: "the agent it belongs to moves it aside, keeps what can be read of it, and begins a fresh one"
        case .newerVersion where self.step.contains(bytesOf: "database"): "run the newer version of this program"
        case .newerVersion: "run the newer version of this program, or use another state directory"
        case .notMade: "start the program that receives with it"
        case .locked where self.sqlState != nil: "let no other gateway have the same messages; it is tried again"
        case .locked: "stop the other program that changes this file"
        case .notAFile: "it is a link or not a regular file; move it out of the way"
        case .notPermitted where self.sqlState == "25006": "name the primary: a standby takes no writes"
        case .notPermitted where self.step.hasPrefix("making the schema"):
            "do it as that owner or a superuser: what another role makes, gateways of other roles do not use"
        case .notPermitted where self.sqlState != nil:
            "give this role the rights of Documentation/fleet.md, or use another role"
        case .notPermitted: "make the file and its directory writable for this user"
        case .cannotOpen: "check that the directory exists and belongs to this user"
        case .io: "check the disk"
        case .away: "check that the database runs and can be reached; nothing is acknowledged until it can"
        case .badAddress:
            "write it as a URL of libpq's or as host=HOST user=USER dbname=NAME, on another machine with sslmode=verify-full"
        case .noSchema:
            "run 'kii-push-gateway store init' with a database whose encoding is UTF8, unless a backup is to be restored there"
        case .halfMade:
            "the database has some of its tables and functions and lacks others, as while a backup is being restored; try "
                + "again when that is done ('kii-push-gateway store check' says so), or restore one where nobody does"
        case .notTrusted:
            "look at them, then remove them, all with 'DROP SCHEMA kii_push CASCADE', or use another role: whoever owns tables "
                + "has those who use them do what he likes"
        case .fenced:
            "it stood still, or was cut off from the database, for longer than its lease, and others have taken over; start "
                + "it again"
        case .nameTaken(let host, let processID):
            "process \(processID) on \(host) has the name now; let one process alone run under it"
        case .restored(nil):
            "the database does not know this gateway: it stood still for more than a week and was forgotten, or this is "
                + "another database, or a restored backup, which lacks what was acknowledged since; start it again"
        case .restored(let missing?):
            "the database is older than what was stored in it, as a restored backup is; what was acknowledged since is gone"
                + (missing > 0 ? ": \(missing) \(missing == 1 ? "message" : "messages") at least" : "")
                + "; start it again"
        case .nameInUse(let host, let processID, _):
            "the name belongs to \(HostProcess(id: processID, host: host)); stop that one, or take another name"
        case .ofAnother: "declare one agent alone for each user or thing"
        case .other: "report this as a defect of kii-push"
        }
    }

    package var facts: String {
        var facts: [String] = []
        switch self.kind {
        case .newerVersion(let version): facts.append("schema version \(version)")
        default: break
        }
        if self.code != 0 { facts.append("SQLite code \(self.code), extended \(self.extendedCode)") }
        if let sqlState { facts.append("SQLSTATE \(sqlState)") }
        if self.systemError != 0 { facts.append("errno \(self.systemError)") }
        let detail = facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))"
        return "\(self.step) failed\(detail)"
    }

    package var description: String { "\(self.facts); \(self.advice)" }
}
