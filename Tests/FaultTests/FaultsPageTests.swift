import Faults
import Foundation
import Testing

/// `Documentation/faults.md` has every scenario with its description and its measurements.
@Suite struct FaultsPageTests {
    private static func rows() throws -> [[String]] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "Documentation/faults.md"), encoding: .utf8)
        return page.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test func everyScenarioIsDescribed() throws {
        let described = try Self.rows().filter { $0.count == 2 && $0[0].hasPrefix("`") }
        #expect(described == Scenario.all(.full).map { ["`\($0.name)`", $0.summary] })
    }

    /// Only scenarios that have to lose messages may lose some.
    @Test func everyScenarioWasMeasuredAndLostNothing() throws {
        let rows = try Self.rows()
        let start = try #require(rows.firstIndex { $0.first == "scenario" && $0.count == 9 })
        let measured = rows[(start + 1)...].prefix { $0.count == 9 }
        let scenarios = Scenario.all(.full)
        #expect(measured.map { $0[0] } == scenarios.map(\.name))
        #expect(measured.map { $0[4] == "0" } == scenarios.map { $0.controlled == nil })
    }
}
