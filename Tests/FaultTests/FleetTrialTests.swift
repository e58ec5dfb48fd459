#if Postgres
import Foundation
import TestSupport
import Testing

/// A small run of `script/fleet`.
@Suite struct FleetTrialTests {
    @Test func nothingIsLostWhileGatewaysDie() async throws {
        let runner = productsDirectory.appending(path: "kii-push-fleet").path
        let result = try await ForeignProgram(
            runner, "--agents", "20", "--seconds", "30", "--only", "kill,cut,leave,failover"
        ).run()
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        print(result.output)
    }
}
#endif
