package import KiiPushActivation
import KiiPushCore

/// Processes of an earlier run of a profile. A file in the profile's directory names each.
package enum LeftoverPrograms {
    private static let firstFile = "activated"

    /// The file for the process with this number, from 1, among processes that run at once.
    package static func file(_ number: Int, in directory: String) -> String {
        "\(directory)/\(Self.firstFile)" + (number == 1 ? "" : "-\(number)")
    }

    /// Ends processes of an earlier run that had more activators than this one, which takes over `count` files. `grace`
    /// is the time between SIGTERM and SIGKILL, `nil` for the default. Returns at once. `report` gets an event for each
    /// process, on a thread that it must not block.
    package static func end(
        in directory: String, beyond count: Int, grace: Duration?, report: @escaping @Sendable (Activator.Event) -> Void
    ) {
        for number in Self.numbers(in: directory) where number > count {
            var configuration = Activator.Configuration(command: [])
            configuration.processFile = Self.file(number, in: directory)
            if let grace { configuration.terminationGrace = grace }
            // The thread of this activator ends the process that the file names, and then exits.
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
