import Glibc
import KiiPushCommandLine
import KiiPushCore

struct FileChecks: Sendable {
    let location: ProfileLocation
    let named: [String]

    private var directory: String { self.location.directory }

    func modes() -> Finding {
        let own = ["credentials.json", "agents/default.json"].map { "\(self.directory)/\($0)" }
        for path in [self.location.paths.credentials] + own + self.named {
            do {
                _ = try PrivateFile.read(path)
            } catch .tooOpen(_, let mode) {
                return .failed(
                    "\(path) holds secrets and is open to others (mode \(String(mode, radix: 8)))",
                    fix: "chmod 600 \(path)", exit: .configuration)
            } catch .foreignOwner(_, let owner) {
                return .failed(
                    "\(path) belongs to user \(owner) and this is user \(geteuid())",
                    fix: "run as that user, or give the file away: chown \(geteuid()) \(path)", exit: .configuration)
            } catch {
                return .failed(error, fix: "see that user \(geteuid()) can read it")
            }
        }
        let opened = [self.directory, self.directory + "/inbox.sqlite"].first { path in
            var status = stat()
            return stat(path, &status) == 0 && status.st_mode & 0o077 != 0
        }
        if let opened {
            return .warning(
                "\(opened) can be read or written by others: it holds messages", fix: "chmod go-rwx \(opened)")
        }
        return .ok("closed to others and owned by user \(geteuid())")
    }

    func stateDirectory() -> Finding {
        let directory = self.directory
        guard access(directory, F_OK) == 0 else {
            return errno == ENOENT
                ? .needless("\(directory) is not there yet")
                : .failed(FileError.system(path: directory, operation: "look at", code: errno))
        }
        let trial = directory + "/doctor"
        do {
            try PrivateFile.replace(trial, with: [UInt8](repeating: 0, count: 4096))
        } catch {
            let fix =
                switch error {
                case .system(_, _, ENOSPC), .system(_, _, EDQUOT):
                    "free some space there: until then nothing is received, and the broker keeps what comes"
                case .system(_, _, EROFS): "have it mounted to be written: until then messages are in memory only"
                default: "let user \(geteuid()) write there: until then messages are in memory only"
                }
            return .failed(error, fix: fix)
        }
        unlink(trial)
        var system = statvfs()
        guard statvfs(directory, &system) == 0 else { return .ok("\(directory) can be written") }
        let free = UInt64(system.f_bavail) * UInt64(system.f_frsize)
        let evidence = "\(directory) can be written; \(free >> 20) MiB are free"
        // Less than 64 MiB is too little for an inbox.
        return free < 64 << 20
            ? .warning(evidence, fix: "free some space: an inbox that cannot be written stops receiving")
            : .ok(evidence)
    }

    private var decisionAdvice: String {
        let option = self.location.option
        return "see why: kii-push inbox list --state dead\(option); then decide: kii-push inbox retry or drop\(option)"
    }

    func inbox() -> Finding {
        do {
            let reader = try InboxReader(stateDirectory: self.directory)
            let ledger = try reader.ledger()
            try reader.verify()
            let stock = try reader.deadLetterStock()
            if stock.isFull {
                return .failed(
                    "\(stock.advice); until then nothing is received",
                    fix: self.decisionAdvice, exit: .temporary)
            }
            let kept = (Directory.names(in: self.directory) ?? []).filter { $0.hasPrefix("inbox.sqlite.damaged-") }
                .sorted()
            if let first = kept.first {
                return .failed(
                    "the inbox was damaged, and \(ledger.lost) messages are lost; what was left is kept as "
                        + "\(self.directory)/\(first)",
                    fix: "find out what damaged it, see what the kept files still hold, then remove them: "
                        + "rm \(self.directory)/inbox.sqlite.damaged-*",
                    exit: .inputOutput, isInTheWay: false)
            }
            if let stranded = try reader.stranded().first {
                return .warning(stranded.text, fix: stranded.advice(self.location.name))
            }
            let counts =
                "\(ledger.received) received: \(ledger.waiting) waiting, \(ledger.running) in hand, "
                + "\(ledger.presented) shown, \(ledger.dead) given up on"
            let evidence = ledger.lost == 0 ? counts : "\(counts), \(ledger.lost) lost"
            return ledger.dead == 0 ? .ok(evidence) : .warning(evidence, fix: self.decisionAdvice)
        } catch .missing {
            return .needless("there is none yet: nothing was received")
        } catch {
            return .failed(
                error,
                fix: "keep a copy of \(self.directory)/inbox.sqlite; 'kii-push listen' moves a damaged one aside and "
                    + "takes over what it can")
        }
    }
}
