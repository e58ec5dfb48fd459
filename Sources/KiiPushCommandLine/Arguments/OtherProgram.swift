import Glibc
import KiiPushCore

/// A program of a package of its own, which carries a command of this one out.
package struct OtherProgram {
    package let name: String

    package init(name: String) { self.name = name }

    /// Goes on as that program, which lies beside this one or along the PATH.
    ///
    /// - Throws: ``CommandFailure`` with exit 66 where it is not installed, with 78 where it is of another version.
    package func run(_ words: [String]) throws {
        guard let path = self.besideThisOne ?? ProgramLookup.path(of: self.name) else {
            throw CommandFailure(.missingInput, "\(self.name) is not installed: the package \(self.name) has it")
        }
        let version = Self.version(of: path)
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
        let path = "\(own[...end])\(self.name)"
        return access(path, X_OK) == 0 ? path : nil
    }

    /// The first line that the program says of its version; empty where it says nothing.
    private static func version(of path: String) -> String {
        guard let (own, output) = try? FileDescriptor.connectedPair() else { return "" }
        var launch = ChildProcess.Launch([path, "--version"])
        launch.descriptors = [1: output]
        // A version is short: the program can write it before anybody reads.
        _ = try? ChildProcess(launch).wait()
        own.makeNonBlocking()
        var line = [UInt8](repeating: 0, count: 256)
        let count = max(0, own.read(into: &line))
        return String(decoding: line[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
