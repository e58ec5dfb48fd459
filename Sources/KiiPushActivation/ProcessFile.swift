import Glibc
import KiiPushCore

/// The file that names the process that runs: what a successor needs to end it after a crash.
struct ProcessFile {
    let path: String

    /// - Returns: why it could not be written.
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

    /// Ends the process that the file names, with its group, if it runs still: an earlier run of this program has left it.
    ///
    /// - Parameter grace: how long it has after SIGTERM.
    /// - Returns: its ID if there was one.
    func endLeftover(grace: Duration) -> Int32? {
        defer { self.remove() }
        guard let process = self.process, process.processID > 1, process.isRunning else { return nil }
        let processID = process.processID
        kill(-processID, SIGTERM)
        let begin = MonotonicInstant.now()
        // It is no child of this process, so there is nothing to wait for but its end itself. One that is stuck in the
        // kernel is not waited for: it does nothing any more.
        while process.isRunning, MonotonicInstant.now() < begin + grace + .seconds(5) {
            if MonotonicInstant.now() >= begin + grace { kill(-processID, SIGKILL) }
            // The kernel tells a parent alone of an end, so it is looked for.
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
