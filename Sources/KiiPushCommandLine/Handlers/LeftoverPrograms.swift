package import KiiPushActivation
import KiiPushCore

/// What an earlier run of a profile has left running: each process is named in a file of the profile's directory.
package enum LeftoverPrograms {
    private static let firstFile = "activated"

    /// Where it is kept which process runs as the number-th, from 1, of those that run at once.
    package static func file(_ number: Int, in directory: String) -> String {
        "\(directory)/\(Self.firstFile)" + (number == 1 ? "" : "-\(number)")
    }

    /// Ends those that no activator of this run takes the place of: `count` files are left to them. The earlier run may have
    /// had more. `grace` is how long a process has to end after SIGTERM, `nil` for the usual. Returns at once; `report` is
    /// told of each that is ended, on a thread that it must not block.
    package static func end(
        in directory: String, beyond count: Int, grace: Duration?, report: @escaping @Sendable (Activator.Event) -> Void
    ) {
        for number in Self.numbers(in: directory) where number > count {
            var configuration = Activator.Configuration(command: [])
            configuration.processFile = Self.file(number, in: directory)
            if let grace { configuration.terminationGrace = grace }
            // Its thread ends what the file names, and then itself, since nobody has a use for it.
            Activator(configuration: configuration, report: report).begin()
        }
    }

    package static func numbers(in directory: String) -> [Int] {
        (Directory.names(in: directory) ?? []).compactMap { name in
            if name == Self.firstFile { return 1 }
            guard name.hasPrefix(Self.firstFile + "-") else { return nil }
            return Int(name.dropFirst(Self.firstFile.count + 1)).flatMap { $0 > 1 ? $0 : nil }
        }
    }
}
