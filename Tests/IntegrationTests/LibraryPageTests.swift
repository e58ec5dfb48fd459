import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// The page about the library shows a program that is built, and the program does what it says.
@Suite(.timeLimit(.minutes(15))) struct LibraryPageTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func everyBlockIsADeclarationOfTheProgram() throws {
        let page = try String(contentsOf: self.root.appending(path: "Documentation/library.md"), encoding: .utf8)
        let folder = self.root.appending(path: "Examples/CloudTour")
        let source = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined(separator: "\n")
        let blocks = page.components(separatedBy: "```swift\n").dropFirst()
        #expect(blocks.count >= 9)
        #expect(page.components(separatedBy: "<!-- example: CloudTour ").count - 1 == blocks.count)
        for block in blocks {
            let code = try #require(block.components(separatedBy: "```").first)
            #expect(source.contains("\n\n" + code), "\(code)")
            #expect(code.hasSuffix("\n}\n") && code.split(separator: "\n").count <= 15, "\(code)")
        }
    }

    @Test func theProgramDoesAllOfIt() async throws {
        try await withEmulator { emulator, directory in
            let tour = ForeignProgram(
                "env",
                "KII_APP_ID=\(emulator.appID)", "KII_APP_KEY=\(emulator.appKey.reveal())",
                "KII_BASE_URL=\(emulator.baseURL)", "KII_CA_FILE=\(emulator.certificateAuthorityFile)",
                "STATE_DIRECTORY=\(directory)/state", "XDG_RUNTIME_DIR=\(directory)/run",
                productsDirectory.appending(path: "CloudTour").path
            )
            let result = try await tour.run()
            #expect(result.status == 0, "\(result.errors)")
            let lines = result.output.split(separator: "\n").map { String($0) }
            #expect(lines.filter { $0.hasPrefix("handling pushToApp") }.count == 4, "\(lines)")
            // "connected to" may be missing: what the broker kept comes before SUBACK, and all may be done by then.
            for line in [
                "to be stored: a token that ends ", "topic dinner", "installations 1", "asked once:",
                "may subscribe:", "nothing was sent: ", "sent ", "the lamp receives at ",
                "handling pushToUser Dinner is ready", "dead letters: 0",
            ] {
                #expect(lines.contains { $0.hasPrefix(line) }, "\(line) is not among \(lines)")
            }
        }
    }
}
