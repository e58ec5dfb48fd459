import Glibc
import KiiPushCore

struct ProcessFile {
    let path: String

    func write(_ processID: Int32) -> String? {
        guard let process = ProcessIdentity(of: processID) else { return nil }
        let text = "\(process.processID) \(process.startTime) \(process.boot)\n"
        do throws(FileError) {
            try OwnFile.replace(self.path, with: Array(text.utf8), isDurable: false)
            return nil
        } catch {
            return error.description
        }
    }

    func remove() { unlink(self.path) }

    /// Ends the process that the file names, and its group, if it still runs.
    ///
    /// - Parameter grace: the time from SIGTERM to SIGKILL.
    /// - Returns: the process's ID if it was running.
    func endLeftover(grace: Duration) -> Int32? {
        defer { self.remove() }
        guard let process = self.process, process.processID > 1, process.isRunning else { return nil }
        let processID = process.processID
        kill(-processID, SIGTERM)
        let begin = MonotonicInstant.now()
        // Gives up 5 s after the first SIGKILL: a process that is stuck in the kernel does nothing more.
        while process.isRunning, MonotonicInstant.now() < begin + grace + .seconds(5) {
            if MonotonicInstant.now() >= begin + grace { kill(-processID, SIGKILL) }
            // Polls: `waitpid` works only for child processes.
            poll(nil, 0, 10)
        }
        return processID
    }

    private var process: ProcessIdentity? {
        guard let bytes = try? PrivateFile.read(self.path, maximumBytes: 4096) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard words.count == 3, let processID = Int32(words[0]), let startTime = UInt64(words[1]) else { return nil }
        return ProcessIdentity(processID: processID, startTime: startTime, boot: String(words[2]))
    }
}
