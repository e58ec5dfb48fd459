package import KiiPushActivation
import KiiPushCore

/// Handlers' processes that an earlier run of a command left. A file in the profile's directory names each process.
package enum LeftoverPrograms {
    private static let firstFile = "activated"

    package static func file(_ number: Int, in directory: String) -> String {
        "\(directory)/\(Self.firstFile)" + (number == 1 ? "" : "-\(number)")
    }

    /// Ends leftover processes whose files have numbers above `count`. The `count` activators of the present run end
    /// the processes with lower numbers. Returns at once.
    ///
    /// - Parameters:
    ///   - grace: the time from SIGTERM to SIGKILL; `nil` for the default.
    ///   - report: gets an event for each process, on a thread that it must not block.
    package static func end(
        in directory: String, beyond count: Int, grace: Duration?, report: @escaping @Sendable (Activator.Event) -> Void
    ) {
        for number in Self.numbers(in: directory) where number > count {
            var configuration = Activator.Configuration(command: [])
            configuration.processFile = Self.file(number, in: directory)
            if let grace { configuration.terminationGrace = grace }
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
