import Damage
import TestSupport
import Testing

/// Some of the damages of `script/damage`: after each, every acknowledged message is handled, waiting, a dead letter,
/// or reported as lost.
@Suite struct DamageTests {
    @Test func everyMessageIsAccountedFor() async throws {
        try await withTemporaryDirectory { directory in
            let past = try await Past.make(in: directory + "/past")
            var table = DamageTable()
            try await Matrix.play(Damage.all(of: past, every: 45), of: past, in: directory + "/trial") { finding in
                table.add(finding)
                #expect(finding.problems == [], "\(finding.damage)")
            }
            print(table.text)
        }
    }
}
