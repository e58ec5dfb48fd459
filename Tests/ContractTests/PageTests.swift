import Contract
import Foundation
import Testing

/// The pages equal the generated text; `script/contract` writes them.
@Suite struct PageTests {
    @Test(arguments: Page.all.map { $0.name })
    func thePageIsMadeFromTheContract(name: String) throws {
        let page = try #require(Page.all.first { $0.name == name })
        let written = try String(contentsOf: Contract.documentation.appending(path: name), encoding: .utf8)
        #expect(try written == page.text(Contract.load()), "run script/contract")
    }

    @Test func noCellOfTheCoverageIsEmpty() throws {
        let file = Contract.documentation.appending(path: "coverage.md")
        let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("|") }
        #expect(rows.count > 80)
        for row in rows where !row.hasPrefix("|---") {
            let cells = row.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
            #expect(!cells.contains { $0.allSatisfy { $0 == " " } }, "\(row)")
        }
    }
}
