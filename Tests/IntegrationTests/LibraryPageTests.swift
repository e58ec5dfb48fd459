import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct LibraryPageTests {
    private let program: DocumentedProgram

    init() throws { self.program = try DocumentedProgram(page: "library.md", example: "CloudTour") }

    @Test func everyBlockIsADeclarationOfTheProgram() throws {
        for block in try self.program.expectBlocks(13) {
            #expect(block.hasSuffix("\n}\n") && block.split(separator: "\n").count <= 15, "\(block)")
        }
    }

    @Test func theProgramDoesAllOfIt() async throws {
        try await withEmulator { emulator, directory in
            let lines = try await self.program.lines(with: emulator, in: directory)
            #expect(lines.filter { $0.hasPrefix("handling pushToApp") }.count == 4, "\(lines)")
            // "connected to" may be missing, because the queued messages arrive before SUBACK, and the program may end
            // before it.
            for line in [
                "to be stored: a token that ends ", "topic dinner", "installations 1", "asked five times if need be:",
                "may subscribe:", "nothing was sent: ", "sent ", "the lamp receives at ",
                "handling pushToUser Dinner is ready", "dead letters: 0",
            ] {
                #expect(lines.contains { $0.hasPrefix(line) }, "\(line) is not among \(lines)")
            }
        }
    }
}
