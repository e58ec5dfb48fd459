import KiiPushCommandLine
import KiiPushCore
import kii_push

/// Files of the command line tool. The input chooses a file and holds its content. Several `config.json` files are
/// separated by a byte 0; their profile is `p`.
enum ConfigurationFuzzing {
    static func violations(_ input: [UInt8]) -> [String] {
        var claims = Claims()
        var input = FuzzInput(input)
        let kind = input.number(in: 0...3)
        let rest = input.remainder()
        switch kind {
        case 0: Self.checkLayers(rest.split(separator: 0, maxSplits: 2).map(Array.init), &claims)
        case 1: Self.checkProfile(rest, &claims)
        case 2: Self.checkSubscriptions(rest, &claims)
        default: Self.checkEmulator(rest, &claims)
        }
        return claims.violated
    }

    private static func checkProfile(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let profile = Self.read(bytes, &claims, { try SavedProfile($0) }) else { return }
        let again = Self.read(ConfigurationDocument.bytes(profile.members), &claims) { try SavedProfile($0) }
        claims.require(again == profile, "a profile that is written is read again")
    }

    private static func checkSubscriptions(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let targets = Self.read(bytes, &claims, { KnownSubscriptions.targets(in: $0) }) else { return }
        let written = ConfigurationDocument.bytes(KnownSubscriptions.members(targets))
        let again = Self.read(written, &claims) { KnownSubscriptions.targets(in: $0) }
        claims.require(again == targets, "subscriptions that are written are read again")
    }

    private static func checkEmulator(_ bytes: [UInt8], _ claims: inout Claims) {
        _ = Self.read(bytes, &claims) { try EmulatorRuntimeFile($0) }
    }

    /// Checks several `config.json` files: the user's first, then the system's.
    private static func checkLayers(_ layers: [[UInt8]], _ claims: inout Claims) {
        let files = layers.compactMap { Self.read($0, &claims) { $0 } }
        guard files.count == layers.count else { return }
        let alone = files.map { file in Self.checked(claims: &claims) { try ProfileConfiguration([file], profile: "p") }
        }
        guard let all = Self.checked(claims: &claims, { try ProfileConfiguration(files, profile: "p") }) else {
            // A faulty file also fails behind others, unless those already have its faulty member, which is then
            // ignored.
            return claims.require(alone.contains { $0 == nil }, "only a file that is wrong makes all wrong")
        }
        func first<Value: Equatable>(_ name: String, _ value: (ProfileConfiguration) -> Value?) {
            guard !alone.contains(where: { $0 == nil }) else { return }
            let expected = alone.compactMap { $0 }.compactMap(value).first
            claims.require(value(all) == expected, "the first file that says \(name) wins")
        }
        for setting in CloudSetting.allCases { first(setting.rawValue) { $0.cloud[setting]?.value } }
        first("subscriptions") { $0.subscriptions?.value }
        let run = Self.checked(claims: &claims) { try all.runSettings() }
        if let run, let run {
            claims.require(run.completed(from: nil) == run, "nothing is added by nobody")
            claims.require(run.completed(from: run) == run, "nothing is added that is there already")
        }
        claims.require(all.runMembers.allSatisfy { !$0.name.isEmpty } || run == nil, "what is set has a name")
    }

    private static func read<Value>(
        _ bytes: [UInt8], _ claims: inout Claims, _ body: (ConfigurationDocument) throws -> Value
    ) -> Value? {
        Self.checked(claims: &claims, of: bytes) { try body(ConfigurationDocument.read(bytes, path: "file.json")) }
    }

    /// The result of `body`, or `nil` after a failure, whose text has to name the file.
    private static func checked<Value>(
        claims: inout Claims, of bytes: [UInt8]? = nil, _ body: () throws -> Value
    ) -> Value? {
        do {
            return try body()
        } catch let failure as CommandFailure {
            claims.require(failure.exit == .configuration, "the exit says that the configuration is wrong")
            claims.require(failure.message.contains("file.json"), "a failure names the file")
            let holdsSecret = failure.message.holdsSecret || failure.hint?.holdsSecret == true
            claims.require(!holdsSecret || bytes?.namesSecret != false, "a failure holds no value of the file")
        } catch {
            claims.require(false, "\(type(of: error)) is no failure of the command line")
        }
        return nil
    }
}
