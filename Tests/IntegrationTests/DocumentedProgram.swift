import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// A page of `Documentation/`, and the example program that the page shows in parts.
struct DocumentedProgram {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    let page: String
    private let example: String

    init(page: String, example: String) throws {
        self.page = try Self.text("Documentation/\(page)")
        self.example = example
    }

    static func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    /// Expects that each Swift block of the page is a declaration of the example or of one of `others`, and returns the
    /// blocks.
    @discardableResult
    func expectBlocks(_ count: Int, others: [String] = []) throws -> [String] {
        let source = try ([self.example] + others).flatMap { example in
            let folder = Self.root.appending(path: "Examples/\(example)")
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
        }.joined(separator: "\n")
        let blocks = try self.page.components(separatedBy: "```swift\n").dropFirst()
            .map { try #require($0.components(separatedBy: "```").first) }
        #expect(blocks.count == count)
        let marks = ([self.example] + others).map { "<!-- example: \($0) " }
        #expect(marks.reduce(0) { $0 + self.page.components(separatedBy: $1).count - 1 } == blocks.count)
        for block in blocks { #expect(source.contains("\n\n" + block), "\(block)") }
        return blocks
    }

    /// Runs the example with an emulator, and returns the lines of its output.
    func lines(with emulator: Emulator, in directory: String) async throws -> [String] {
        let result = try await ForeignProgram(
            "env",
            "KII_APP_ID=\(emulator.appID)", "KII_APP_KEY=\(emulator.appKey.reveal())",
            "KII_BASE_URL=\(emulator.baseURL)", "KII_CA_FILE=\(emulator.certificateAuthorityFile)",
            "STATE_DIRECTORY=\(directory)/state", "XDG_RUNTIME_DIR=\(directory)/run",
            productsDirectory.appending(path: self.example).path
        ).run()
        #expect(result.status == 0, "\(result.errors)")
        return result.output.split(separator: "\n").map { String($0) }
    }
}
