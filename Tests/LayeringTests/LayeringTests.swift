import Foundation
import Testing

/// Checks the rules between folders of one module, which the compiler does not check.
@Suite struct LayeringTests {
    @Test func everyRoomKeepsToItsImports() throws {
        let files = try Self.swiftFiles(under: ["Sources"])
        #expect(files.contains { $0.path == "Sources/KiiPushCore/Values/Secret.swift" })
        let violations = LayeringChecker(files: files).violations()
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test func everyRoomFitsUnderItsCeiling() throws {
        let misfits = LayeringChecker(files: try Self.swiftFiles(under: ["Sources"])).misfits()
        #expect(misfits.isEmpty, "\(misfits.joined(separator: "\n"))")
        #expect(Set(Ceiling.all.map(\.folder)) == Set(Room.all.map(\.folder) + ["Sources/KiiPushCore", "Sources"]))
    }

    @Test func filesAreShort() throws {
        let files = try Self.swiftFiles(under: ["Sources", "Tests", "Examples", "Benchmarks"])
        let checker = LayeringChecker(files: files)
        #expect(checker.filesLonger(than: 400) == [])
        #expect(checker.filesLonger(than: 150).count < files.count / 2)
    }

    /// Only code that holds the lock of a database's directory may open the database for writing: the owner of the
    /// inbox, and the emulator.
    @Test func databasesAreOpenedInOnePlaceEach() throws {
        let files = try Self.swiftFiles(under: ["Sources"]).map { (path: $0.path, code: SwiftCode($0.text)) }
        let places = { (word: String) in
            files.filter { $0.code.words.contains { $0.text == word } }.map(\.path).sorted()
        }
        let emulator = "Sources/KiiPushEmulator/State/StateStore.swift"
        #expect(places("sqlite3_open_v2") == ["Sources/KiiPushCore/Inbox/SQLiteConnection.swift"])
        #expect(places("SQLITE_OPEN_READWRITE") == ["Sources/KiiPushCore/Inbox/Inbox.swift", emulator])
        #expect(places("sqlite3_open") == [] && places("sqlite3_open16") == [])
    }

    /// A build without the trait must not need libpq. Only files of these folders may import it (``Room/all``).
    @Test func whatNeedsLibpqIsBehindItsTrait() throws {
        let folders = ["Sources/KiiPushPostgres", "Sources/kii-push-gateway"]
        let files = try Self.swiftFiles(under: folders)
        #expect(files.count > 5)
        let bare = files.filter { !$0.text.hasPrefix("#if Postgres\n") || !$0.text.hasSuffix("\n#endif\n") }
        #expect(bare.map(\.path) == [])
        // No other part of a program may differ with the trait.
        let others = try Self.swiftFiles(under: ["Sources"]).filter { $0.text.contains("#if Postgres") }
        #expect(others.map(\.path).filter { path in !folders.contains { path.hasPrefix($0 + "/") } } == [])
    }

    /// Targets above the core use these libraries. An agent that needs none of them must not link them.
    @Test func theCoreNamesNothingThatStandsOnIt() throws {
        let words = ["d-bus", "sd-bus", "sd_bus", "libsystemd", "activator", "desktoppresenter"]
        let files = try Self.swiftFiles(under: ["Sources/KiiPushCore"])
        #expect(files.count > 100)
        for file in files {
            let text = file.text.lowercased()
            for word in words where text.contains(word) { Issue.record("\(file.path) has \(word)") }
        }
    }

    @Test func thePageListsTheRooms() throws {
        let path = Self.root.appending(path: "Documentation/architecture.md")
        let page = try String(contentsOf: path, encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map {
            $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        for room in Room.all where room.folder.hasPrefix("Sources/KiiPushCore/") {
            let title = "`\(room.name)`" + (room.isPure ? " (pure)" : "")
            let row = try #require(rows.first { $0.count == 4 && $0[0] == title }, "\(title)")
            #expect(row[2] == room.modules.sorted().joined(separator: ", "), "\(title)")
            if row[3] != "all of these" {
                let names = row[3].prefix { $0 != ";" }.split(separator: ", ").map { $0.filter { $0 != "`" } }
                #expect(Set(names) == room.knows, "\(title)")
            }
            guard row[1].contains("sub-folders") else { continue }
            let all = try FileManager.default.contentsOfDirectory(atPath: Self.root.appending(path: room.folder).path)
            let folders = all.filter { !$0.contains(".") }
            for folder in folders { #expect(row[1].contains("`\(folder)`"), "\(title) has \(folder)") }
        }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func swiftFiles(under folders: [String]) throws -> [LayeringChecker.File] {
        try folders.flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: self.root.appending(path: folder).path)
                .filter { $0.hasSuffix(".swift") }
                .sorted()
                .map { path in
                    let url = self.root.appending(path: folder).appending(path: path)
                    return LayeringChecker.File(
                        path: "\(folder)/\(path)",
                        text: try String(contentsOf: url, encoding: .utf8)
                    )
                }
        }
    }
}

@Suite struct LayeringCheckerTests {
    private static let value = LayeringChecker.File(
        path: "Sources/KiiPushCore/Values/Secret.swift",
        text: "package struct Secret {}\nprivate enum Detail {}\n"
    )
    private static let session = LayeringChecker.File(
        path: "Sources/KiiPushCore/MQTT/Session/MQTTSession.swift",
        text: "package struct MQTTSession {\n    package enum Event {}\n}\n"
    )

    private func violations(_ path: String, _ text: String) -> [String] {
        LayeringChecker(files: [Self.value, Self.session, .init(path: path, text: text)]).violations()
    }

    @Test(arguments: [
        (
            "Sources/KiiPushCore/JSON/A.swift", "import Foundation\n",
            "Sources/KiiPushCore/JSON/A.swift:1: JSON may not import Foundation"
        ),
        (
            "Sources/KiiPushCore/Inbox/A.swift", "\npublic import struct CCurl.CURLMsg\n",
            "Sources/KiiPushCore/Inbox/A.swift:2: Inbox may not import CCurl"
        ),
        (
            "Sources/KiiPushCore/Cloud/A.swift", "struct A {\n    var session: MQTTSession?\n}\n",
            "Sources/KiiPushCore/Cloud/A.swift:2: Cloud may not name MQTTSession of MQTT/Session"
        ),
        (
            "Sources/KiiPushCore/Cloud/A.swift", #"let text = "a\(MQTTSession.self)b""#,
            "Sources/KiiPushCore/Cloud/A.swift:1: Cloud may not name MQTTSession of MQTT/Session"
        ),
        (
            "Sources/kii-push/A.swift", "let session: MQTTSession\n",
            "Sources/kii-push/A.swift:1: kii-push may not name MQTTSession of MQTT/Session"
        ),
        (
            "Sources/KiiPushCore/JSON/A.swift", "func a() { Task {} }\n",
            "Sources/KiiPushCore/JSON/A.swift:1: JSON is pure and may not say Task"
        ),
        (
            "Sources/KiiPushCore/JSON/A.swift", "let a = MonotonicInstant.now()\n",
            "Sources/KiiPushCore/JSON/A.swift:1: JSON is pure and may not say now"
        ),
        (
            "Sources/KiiPushCore/EventLoop/A.swift", "import Synchronization\nlet a = Mutex(0)\n",
            "Sources/KiiPushCore/EventLoop/A.swift:2: no room may say Mutex"
        ),
        (
            "Sources/KiiPushCore/Utils/A.swift", "",
            "Sources/KiiPushCore/Utils/A.swift: is in no room of the architecture"
        ),
    ])
    func reportsWhatARoomMayNot(path: String, text: String, violation: String) {
        #expect(self.violations(path, text) == [violation])
    }

    @Test(arguments: [
        ("Sources/KiiPushCore/EventLoop/A.swift", "import CCurl\nimport Glibc\nlet secret: Secret\n"),
        ("Sources/KiiPushCore/Agent/A.swift", "let session: MQTTSession.Event\n"),
        ("Sources/KiiPushCore/Cloud/A.swift", "// MQTTSession\n/* MQTTSession /* MQTTSession */ MQTTSession */\n"),
        ("Sources/KiiPushCore/Cloud/A.swift", "let a = \"MQTTSession \\\" MQTTSession\"\n"),
        ("Sources/KiiPushCore/Cloud/A.swift", "let a = #\"MQTTSession\"MQTTSession\"#\n"),
        ("Sources/KiiPushCore/Cloud/A.swift", "let a = \"\"\"\n    \"MQTTSession\" \\(1) MQTTSession\n    \"\"\"\n"),
        ("Sources/KiiPushCore/Cloud/A.swift", "let mine: MQTTSessions, detail: Detail, event: Event\n"),
        ("Sources/KiiPushCore/Cloud/A.swift", "struct A {\n    enum MQTTSession {}\n    var mine: MQTTSession\n}\n"),
        ("Sources/KiiPushCore/JSON/A.swift", "func fired(now: MonotonicInstant) {}\n"),
    ])
    func acceptsWhatARoomMay(path: String, text: String) {
        #expect(self.violations(path, text) == [])
    }

    @Test func countsLines() {
        let file = LayeringChecker.File(path: "Sources/A.swift", text: String(repeating: "\n", count: 401))
        #expect(LayeringChecker(files: [file]).filesLonger(than: 400) == ["Sources/A.swift: 401 lines"])
        #expect(LayeringChecker(files: [file]).filesLonger(than: 401) == [])
    }
}

@Suite struct CeilingTests {
    private static let files = [
        LayeringChecker.File(path: "Sources/A/A.swift", text: "enum A {}\npublic struct B: Error {}\n"),
        LayeringChecker.File(path: "Sources/AB/C.swift", text: "enum C {} // and no more\n"),
    ]

    private func misfits(_ ceilings: Ceiling...) -> [String] {
        LayeringChecker(files: Self.files).misfits(ceilings)
    }

    @Test func saysNothingOfFoldersThatFit() {
        let counted = Ceiling("Sources/A", [.bytes: 34, .types: 2, .publicDeclarations: 1, .errorTypes: 1])
        #expect(self.misfits(counted, Ceiling("Sources", [.bytes: 45, .types: 3])) == [])
    }

    @Test func namesAFolderThatIsAboveItsCeiling() {
        #expect(
            self.misfits(Ceiling("Sources/A", [.bytes: 33, .types: 2])) == [
                """
                Sources/A has 34 bytes of code, above its ceiling of 33: make it smaller, or raise that and say what it buys
                    Ceiling("Sources/A", [.bytes: 34, .types: 2]),
                """
            ]
        )
    }

    @Test func namesAFolderThatIsFarBelowItsCeiling() {
        #expect(
            self.misfits(Ceiling("Sources/A", [.bytes: 35, .types: 3])) == [
                """
                Sources/A has 2 types, 5 % or more below its ceiling of 3: lower the ceiling
                    Ceiling("Sources/A", [.bytes: 34, .types: 2]),
                """
            ]
        )
    }

    @Test(arguments: [(1_000, 1_000), (1_000, 951), (21, 20), (0, 0)])
    func leavesSomeRoom(limit: Int, count: Int) {
        #expect(Ceiling("A", [.types: limit]).complaint(about: .types, count: count) == nil)
    }

    @Test(arguments: [(1_000, 1_001), (1_000, 950), (20, 19), (1, 0), (0, 1)])
    func complains(limit: Int, count: Int) {
        #expect(Ceiling("A", [.types: limit]).complaint(about: .types, count: count) != nil)
    }

    @Test func printsALineToPaste() {
        let ceiling = Ceiling("A", [.errorTypes: 7, .types: 1_002, .bytes: 1_034_005])
        #expect(ceiling.line == "Ceiling(\"A\", [.bytes: 1_034_005, .types: 1_002, .errorTypes: 7]),")
    }
}
