import Glibc
import KiiPushCore

package struct OtherProgram {
    package let name: String

    package init(name: String) { self.name = name }

    /// Replaces this process with the program, which is in this program's directory or along the PATH.
    ///
    /// - Throws: ``CommandFailure`` with exit 66 if the program is not installed or cannot be started, and with 78 if
    ///   its version is unknown or differs from the version of this program.
    package func run(_ words: [String]) throws {
        guard let path = self.besideThisOne ?? ProgramLookup.path(of: self.name) else {
            throw CommandFailure(.missingInput, "\(self.name) is not installed: the package \(self.name) has it")
        }
        let version = try Self.version(of: path)
        guard version == "\(self.name) \(UserAgent.version)" else {
            let answer = version.isEmpty ? "does not tell its version" : "is '\(version)'"
            throw CommandFailure(
                .configuration, "\(path) \(answer), and this is version \(UserAgent.version)",
                hint: "install \(self.name) of the same version")
        }
        execv(path, ([path] + words).map { strdup($0) } + [nil])
        throw CommandFailure(.missingInput, "cannot start \(path): \(errorText(errno))")
    }

    private var besideThisOne: String? {
        guard let own = ProgramLookup.own, let end = own.lastIndex(of: "/") else { return nil }
        return ProgramLookup.path(of: "\(own[...end])\(self.name)")
    }

    /// The first line of the program's `--version`, or its beginning if no more comes for 5 s.
    ///
    /// - Throws: ``CommandFailure`` with exit 66 if the program cannot be started.
    private static func version(of path: String) throws -> String {
        let (output, program): (FileDescriptor, ChildProcess)
        do {
            (output, program) = try self.askVersion(of: path)
        } catch {
            throw CommandFailure(.missingInput, "\(error)")
        }
        let patience = Duration.seconds(5)
        output.limit(SO_RCVTIMEO, to: patience)
        // A limit for the whole line, for a program that writes byte by byte.
        let end = MonotonicInstant.now() + patience
        var line: [UInt8] = []
        while line.count < 256, !line.contains(UInt8(ascii: "\n")), MonotonicInstant.now() < end {
            var part = [UInt8](repeating: 0, count: 256)
            let count = output.receive(into: &part)
            guard count > 0 else { break }
            line += part[..<count]
        }
        program.end(with: SIGKILL)
        _ = program.wait()
        return String(decoding: line.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// Starts the program with one end of a socket pair as its output, and returns the other end. This process closes
    /// its copy of the program's end, so that reading ends when the program ends.
    private static func askVersion(of path: String) throws -> (output: FileDescriptor, program: ChildProcess) {
        let (own, output) = try FileDescriptor.connectedPair()
        var launch = ChildProcess.Launch([path, "--version"])
        launch.descriptors = [1: output]
        return (own, try ChildProcess(launch))
    }
}
