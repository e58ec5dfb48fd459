import Foundation
import TestSupport
import Testing

@Suite struct LeftOutTests {
    @Test(arguments: [(nil, 77), ("true", 1)] as [(String?, Int32)])
    func whatCannotBePlayedIsNamed(ci: String?, status: Int32) async throws {
        var environment = ProcessInfo.processInfo.environment
        environment["CI"] = ci
        // An empty PATH hides the programs that make the disk, also from root and beside a compiled plugin.
        environment["PATH"] = "/nowhere"
        let result = try await ForeignProgram(
            [productsDirectory.appendingPathComponent("kii-push-faults").path, "power"], environment: environment
        ).run()
        #expect(result.status == status)
        let last = result.errors.split(separator: "\n").last
        #expect(last?.hasPrefix("script/faults: left out: power, power-normal; ") == true, "\(result.errors)")
    }
}
