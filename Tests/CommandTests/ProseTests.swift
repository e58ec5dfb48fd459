import Foundation
import TestTraits
import Testing

@Suite(.ownThreads) struct ProseTests {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "script/prose")

    /// Runs a copy of the script beside a room with one Swift file and a folder with one page.
    private func run(_ source: String, page: String = "", _ words: [String] = []) throws -> Tool.Result {
        let tool = try Tool()
        let tree = tool.home.path + "/tree"
        let files = [
            "Sources/KiiPushCore/Room/File.swift": source, "Documentation/page.md": page, "README.md": "",
            "CONTRIBUTING.md": "", "SECURITY.md": "",
        ]
        let folders = ["Sources/KiiPushCore/Room", "Tests", "Benchmarks", "Examples", "Documentation", "script"]
        for folder in folders {
            try FileManager.default.createDirectory(atPath: "\(tree)/\(folder)", withIntermediateDirectories: true)
        }
        for (path, text) in files { try text.write(toFile: "\(tree)/\(path)", atomically: true, encoding: .utf8) }
        try FileManager.default.copyItem(atPath: Self.script.path, toPath: "\(tree)/script/prose")
        // The tool removes its home when it is released.
        return try withExtendedLifetime(tool) {
            try RunningTool(["bash", "\(tree)/script/prose"] + words, environment: tool.environment).waitForExit()
        }
    }

    private func counts(of room: String, in output: String) throws -> [Int] {
        let row = try #require(output.split(separator: "\n").first { $0.hasPrefix(room + " ") })
        return row.split(separator: " ").compactMap { Int($0) }
    }

    @Test(arguments: [
        ("/// The store marks the row.", [1, 0, 0, 0]),
        ("/// What came to the store.", [1, 1, 0, 1]),
        ("/// The row waits. Of one that is marked nobody knows.", [2, 1, 0, 0]),
        ("/// - Parameter limit: how long the store waits.", [1, 0, 0, 0]),
        ("/// The loop\n/// is told. The row is kept by the store.", [2, 0, 1, 0]),
        ("/// The store takes one of\n/// those.", [1, 0, 0, 1]),
        ("/// `What` is a name, and so is ``Those``.", [1, 0, 0, 0]),
        ("// Why does it wait?\nlet row = 1  // What it is told.\n/* The store waits. */", [2, 0, 0, 0]),
        ("/// - Throws: What is told.\n///   What is told.", [0, 0, 0, 0]),
    ])
    func shapesOfCommentsAreCounted(source: String, expected: [Int]) throws {
        let result = try self.run(source + "\n")
        #expect(result.exit == 0, "\(result.error)")
        #expect(try self.counts(of: "Sources/KiiPushCore/Room", in: result.output) == expected, "\(result.output)")
    }

    @Test func codeTablesAndHeadingsOfPagesAreNoProse() throws {
        let page = """
            # What it is

            Run the
            program. What came is told.

            | What | is told |
            |---|---|

            ```sh
            What is told
            ```

            - Whose row waits.
            - A row waits.
            """
        let result = try self.run("", page: page)
        #expect(try self.counts(of: "Documentation", in: result.output) == [4, 2, 1, 1], "\(result.output)")
    }

    @Test func aRoomWithTwoPlacesOfAShapeFails() throws {
        let result = try self.run("/// What waits.\n\n/// Who waits.\n", ["--list", "Sources/KiiPushCore/Room"])
        #expect(result.exit == 1)
        #expect(result.output.contains("Sources/KiiPushCore/Room/File.swift:1: relative: What waits.\n"))
        #expect(result.output.contains("Sources/KiiPushCore/Room/File.swift:3: relative: Who waits.\n"))
        #expect(!result.output.contains("Documentation"))
        #expect(result.error.hasPrefix("script/prose: a room is above 1 % of a shape"))
    }

    @Test(arguments: [["--all"], ["Sources/Nothing"]])
    func wordsThatAreNoneAreRefused(words: [String]) throws {
        #expect(try self.run("", words).exit == 64)
    }
}
