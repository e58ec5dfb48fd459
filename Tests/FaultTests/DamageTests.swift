import Damage
import TestSupport
import Testing

/// Whatever happens to the inbox's files, each message that was acknowledged is handled, waits, is a dead letter, or is told
/// as lost: some of the damages of `script/damage`.
@Suite struct DamageTests {
    @Test func everyMessageIsAccountedFor() async throws {
        try await withTemporaryDirectory { directory in
            let past = try await Past.make(in: directory + "/past")
            var table = DamageTable()
            let matrix = try Matrix(past, in: directory + "/trial")
            for damage in Damage.all(of: past, every: 45) {
                let finding = await matrix.play(damage)
                table.add(finding)
                #expect(finding.problems == [], "\(damage)")
            }
            print(table.text)
        }
    }
}
