import CSQLite
import Glibc

/// Why the inbox failed: the codes of SQLite or of a database server and the name of the step, and never a row, a topic
/// or a payload.
package struct InboxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What the caller does next depends on this alone.
    package enum Kind: Sendable, Hashable {
        /// No room on the disk, or in the quota. The transaction was rolled back, and may be tried again.
        case full
        /// The file is damaged or is no inbox. Its owner has it replaced.
        case corrupt
        /// A later version of this library wrote the file.
        case newerVersion(Int)
        /// The file is empty, or half made, and only to be read.
        case notMade
        case locked
        /// There is a link, a pipe or a directory in the place of the file.
        case notAFile
        case notPermitted, cannotOpen, io
        /// The database cannot be reached, or it was cut off.
        case away
        /// The database's address cannot be read, or asks for a connection that others could read.
        case badAddress
        /// The database has no tables of this library, or cannot hold them.
        case noSchema
        /// The database has a part of the tables and functions alone, as while a backup is being restored.
        case halfMade
        /// A role that could have this one do things owns something there.
        case notTrusted
        /// Others have taken over what this process was to write.
        case fenced
        /// Another process has taken this one's name meanwhile.
        case nameTaken(host: String, processID: Int)
        /// The database is older than what this process has stored in it, so many messages at least; `nil` where it does not
        /// know the process.
        case restored(missing: Int?)
        /// Another process has the name that this one was to take, for so long at least.
        case nameInUse(host: String, processID: Int, timeLeft: Duration)
        /// Another agent receives as the installation.
        case ofAnother
        /// Anything else: a defect of this library, or no memory.
        case other
    }

    package var kind: Kind
    /// SQLite's primary result code, such as `SQLITE_FULL`; 0 where SQLite was not asked.
    package var code: Int32 { self.extendedCode & 0xFF }
    /// SQLite's extended result code, such as `SQLITE_IOERR_WRITE`.
    package var extendedCode: Int32
    /// The `errno` of the system call below, 0 where there was none.
    package var systemError: Int32
    /// The five letters in which a database server says why, such as `53100`; `nil` where none was asked.
    package var sqlState: String?
    package var step: String

    package init(
        _ kind: Kind, step: String, extendedCode: Int32 = 0, systemError: Int32 = 0, sqlState: String? = nil
    ) {
        (self.kind, self.step, self.sqlState) = (kind, step, sqlState)
        (self.extendedCode, self.systemError) = (extendedCode, systemError)
    }

    /// Reads SQLite's codes. SQLite says `SQLITE_FULL` for a short write only, else `SQLITE_IOERR` with an `errno`.
    init(extendedCode: Int32, systemError: Int32, step: String) {
        let kind: Kind =
            switch extendedCode & 0xFF {
            case SQLITE_FULL: .full
            case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .locked
            // SQLITE_READONLY_ROLLBACK. The making of the file was cut off: later on it has a log.
            case SQLITE_READONLY where extendedCode == SQLITE_READONLY | 3 << 8: .notMade
            case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .notPermitted
            case SQLITE_CANTOPEN: .cannotOpen
            case SQLITE_IOERR: systemError == ENOSPC || systemError == EDQUOT ? .full : .io
            default: .other
            }
        self.init(kind, step: step, extendedCode: extendedCode, systemError: systemError)
    }

    /// Whether this process may write nothing any more.
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
