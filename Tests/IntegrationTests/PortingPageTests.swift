import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct PortingPageTests {
    private let program: DocumentedProgram

    init() throws { self.program = try DocumentedProgram(page: "porting.md", example: "PortingTour") }

    @Test func everyBlockIsADeclarationOfTheProgram() throws { try self.program.expectBlocks(15) }

    @Test func theTableOfFieldsIsTheLibrarys() throws {
        for field in MessageField.allCases {
            let row = "| `\(field)` | `\(field.key(in: .long))` | `\(field.key(in: .short))` |"
            #expect(self.program.page.contains(row), "\(row)")
        }
    }

    @Test func theProgramDoesAllOfIt() async throws {
        try await withEmulator { emulator, directory in
            let lines = try await self.program.lines(with: emulator, in: directory)
            #expect(lines.first?.hasPrefix("instead of a device token: ") == true, "\(lines)")
            #expect(
                lines.dropFirst() == [
                    "the same installation: true", "badge 0", "handling Dinner opened: false",
                    "a list for ListHandler on the main actor: 0", "fetched: soup", "unsubscribed: true", "logged out",
                ], "\(lines)")
        }
    }
}
