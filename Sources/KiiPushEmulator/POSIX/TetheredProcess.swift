import Glibc
import KiiPushCore

/// A child process that gets SIGTERM from the kernel when the thread that started it ends.
///
/// `setpriv --pdeathsig TERM` starts the child. The thread that starts the child has to live as long as the child
/// should run.
struct TetheredProcess {
    private let process: ChildProcess
    /// A socket whose peer only the child holds: `POLLHUP` reports that the child has ended.
    let lifeline: FileDescriptor

    /// - Parameter output: the file for standard output and error.
    init(
        program: String, arguments: [String], output: String, inherited: FileDescriptor? = nil, launcher: String
    ) throws(EmulatorError) {
        let log = try EmulatorError.ofFile(OwnFile.open(output, O_WRONLY | O_CREAT | O_TRUNC))
        var launch = ChildProcess.Launch([launcher, "--pdeathsig", "TERM", program] + arguments)
        launch.descriptors = [1: log, 2: log]
        launch.descriptors[4] = inherited
        do throws(SystemError) {
            let (ours, theirs) = try FileDescriptor.connectedPair()
            self.lifeline = ours
            launch.descriptors[3] = theirs
        } catch {
            throw EmulatorError(error)
        }
        do throws(SystemError) {
            self.process = try ChildProcess(launch)
        } catch {
            throw .system("start \(program)", error.code)
        }
    }

    /// Waits for the timeout, or until the child ends.
    func isRunning(afterMilliseconds timeout: Int32) -> Bool {
        var entry = pollfd(fd: self.lifeline.number, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, timeout) <= 0
    }

    func signal(_ number: Int32) { self.process.signal(number) }

    /// Returns the exit code, 128 + the signal that ended the child, or 0 if unknown.
    func wait() -> Int32 {
        switch self.process.wait() {
        case .exited(let status): status
        case .signalled(let signal): 128 + signal
        // If SIGCHLD is ignored, the exit status is lost. The caller has to check the child's work.
        case .unknown: 0
        }
    }

    func stop(patience: Int32) {
        self.signal(SIGTERM)
        if self.isRunning(afterMilliseconds: patience) { self.signal(SIGKILL) }
        _ = self.wait()
    }

    static func run(_ program: String, _ arguments: [String], output: String, launcher: String) throws(EmulatorError)
        -> Int32
    { try TetheredProcess(program: program, arguments: arguments, output: output, launcher: launcher).wait() }
}
