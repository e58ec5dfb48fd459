import KiiPushCore

package struct ProfileLocation: Sendable {
    package static let defaultName = "default"

    package let name: String
    package let directory: String
    package let paths: FilePaths

    package init(named name: String?, configurationFile: String? = nil) throws {
        self.name = name ?? EnvironmentVariable.profile.text ?? Self.defaultName
        guard Self.isValid(self.name) else {
            throw CommandFailure(
                .configuration, "'\(self.name)' is no name for a profile",
                hint: "use 1 to 64 letters, digits, '.', '_' and '-', with a letter or digit first")
        }
        self.paths = try FilePaths(configurationFile: configurationFile)
        self.directory = self.paths.profiles + "/" + self.name
    }

    /// The option for this profile at the end of a command line; empty for the default profile.
    package var option: String { Self.option(of: self.name) }
    package static func option(of name: String) -> String { name == self.defaultName ? "" : " --profile \(name)" }

    package var files: [(kind: String, path: String)] {
        [("config", self.paths.configuration)]
            + self.paths.systemConfigurations.map { ("system", $0) }
            + [("credentials", self.paths.credentials)]
            + [self.paths.systemCredentials].compactMap { $0 }.map { ("credentials", $0) }
            + [("profile", self.directory + "/profile.json"), ("registered", self.directory + "/credentials.json")]
            + [("state", self.directory), ("emulator", self.paths.emulator)]
    }

    /// The name becomes a directory's name: no slash, no leading dot.
    package static func isValid(_ name: String) -> Bool {
        let isAlphanumeric = { (character: Character) in
            character.isASCII && (character.isLetter || character.isNumber)
        }
        return name.count <= 64 && name.first.map(isAlphanumeric) ?? false
            && name.allSatisfy { isAlphanumeric($0) || "._-".contains($0) }
    }
}
