import Glibc

/// What the sections share: where the programs are, and how much to run.
struct Workbench {
    static let topic = "bench/0123456789abcd"

    /// The folder of the C programs, the peers, the certificate and the stripped `kii-push`; runs may leave files in it.
    var folder: String
    /// The folder of the payloads.
    var payloads: String
    /// The path of this program.
    var executable: String
    /// A smoke run: little of everything.
    var isQuick: Bool
    /// How often each contender runs.
    var repetitions: Int
    var machine: Machine

    var certificate: String { "\(self.folder)/certificate.pem" }
    var key: String { "\(self.folder)/key.pem" }
    var smallPayload: String { "\(self.payloads)/kii-200.json" }
    var largePayload: String { "\(self.payloads)/kii-400.json" }

    func program(_ name: String) -> String { "\(self.folder)/\(name)" }

    /// `count`, or a tenth of it in a smoke run.
    func scaled(_ count: Int) -> Int { self.isQuick ? max(count / 10, 1) : count }

    /// The command line of one of this program's own commands.
    func own(_ arguments: [String]) -> [String] { [self.executable] + arguments }

    /// Removes a folder and what is in it.
    static func remove(_ directory: String) {
        // What is left over is found in the build folder, and in nobody's way.
        _ = try? ChildProcess(["rm", "-rf", directory]).wait()
    }
}
