import Foundation
import TestSupport
import Testing

/// What cannot be played here has not passed, and is named.
@Suite struct LeftOutTests {
    @Test(arguments: [(nil, 77), ("true", 1)] as [(String?, Int32)])
    func whatCannotBePlayedIsNamed(ci: String?, status: Int32) async throws {
        var environment = ProcessInfo.processInfo.environment
        environment["CI"] = ci
        // Also for root, and beside a disk that is compiled, there is nothing here to make it with.
        environment["PATH"] = "/nowhere"
        let result = try await ForeignProgram(
            [productsDirectory.appendingPathComponent("kii-push-faults").path, "power"], environment: environment
        ).run()
        #expect(result.status == status)
        let last = result.errors.split(separator: "\n").last
        #expect(last?.hasPrefix("script/faults: left out: power, power-normal; ") == true, "\(result.errors)")
    }
}
