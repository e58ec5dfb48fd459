import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// The page about porting shows a program that is built, and the program does what it says.
@Suite(.timeLimit(.minutes(15))) struct PortingPageTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func page() throws -> String {
        try String(contentsOf: self.root.appending(path: "Documentation/porting.md"), encoding: .utf8)
    }

    @Test func everyBlockIsADeclarationOfTheProgram() throws {
        let page = try self.page()
        let folder = self.root.appending(path: "Examples/PortingTour")
        let source = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined(separator: "\n")
        let blocks = page.components(separatedBy: "```swift\n").dropFirst()
        #expect(blocks.count == 7)
        #expect(page.components(separatedBy: "<!-- example: PortingTour ").count - 1 == blocks.count)
        for block in blocks {
            let code = try #require(block.components(separatedBy: "```").first)
            #expect(source.contains("\n\n" + code), "\(code)")
        }
    }

    @Test func theTableOfFieldsIsTheLibrarys() throws {
        let page = try self.page()
        for field in MessageField.allCases {
            let row = "| `\(field)` | `\(field.key(in: .long))` | `\(field.key(in: .short))` |"
            #expect(page.contains(row), "\(row)")
        }
    }

    @Test func theProgramDoesAllOfIt() async throws {
        try await withEmulator { emulator, directory in
            let tour = ForeignProgram(
                "env",
                "KII_APP_ID=\(emulator.appID)", "KII_APP_KEY=\(emulator.appKey.reveal())",
                "KII_BASE_URL=\(emulator.baseURL)", "KII_CA_FILE=\(emulator.certificateAuthorityFile)",
                "STATE_DIRECTORY=\(directory)/state", "XDG_RUNTIME_DIR=\(directory)/run",
                productsDirectory.appending(path: "PortingTour").path
            )
            let result = try await tour.run()
            #expect(result.status == 0, "\(result.errors)")
            let lines = result.output.split(separator: "\n").map { String($0) }
            #expect(lines.first?.hasPrefix("instead of a device token: ") == true, "\(lines)")
            #expect(
                lines.dropFirst() == [
                    "the same installation: true", "handling Dinner opened: false",
                    "a list for ListHandler on the main actor: 0",
                ], "\(lines)")
        }
    }
}
