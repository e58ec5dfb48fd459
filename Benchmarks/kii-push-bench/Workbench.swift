import Glibc

/// The common settings of all sections: the programs' folders and the size of a run.
struct Workbench {
    static let topic = "bench/0123456789abcd"

    /// The folder of the C programs, the peers, the certificate and the stripped `kii-push`. Runs may leave files in
    /// the folder.
    var folder: String
    var payloads: String
    var executable: String
    /// Whether this is a smoke run, with a tenth of the work.
    var isQuick: Bool
    /// The number of runs for each contender.
    var repetitions: Int
    var machine: Machine

    var certificate: String { "\(self.folder)/certificate.pem" }
    var key: String { "\(self.folder)/key.pem" }
    var smallPayload: String { "\(self.payloads)/kii-200.json" }
    var largePayload: String { "\(self.payloads)/kii-400.json" }

    func program(_ name: String) -> String { "\(self.folder)/\(name)" }

    /// `count`, or a tenth of `count` in a smoke run.
    func scaled(_ count: Int) -> Int { self.isQuick ? max(count / 10, 1) : count }

    /// The command line of a command of this program.
    func own(_ arguments: [String]) -> [String] { [self.executable] + arguments }

    static func remove(_ directory: String) {
        // Remaining files stay in the build folder and do no harm.
        _ = try? ChildProcess(["rm", "-rf", directory]).wait()
    }
}
