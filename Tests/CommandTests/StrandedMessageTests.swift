import Foundation
import KiiPushCore
import TestTraits
import Testing

/// Messages of a former installation, as which no agent receives any more.
@Suite(.ownThreads) struct StrandedMessageTests {
    /// A profile that was registered again as another user, with messages of its former user.
    private func session() throws -> (session: EmulatorSession, former: String, said: Tool.Result) {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.store([.waiting, .inHand, .inHand, .done, .dead])
        let former = try session.installation()
        let said = try session.tool("register", "--anew")
        #expect(said.exit == 0, "\(said.error)")
        #expect(try session.installation() != former)
        return (session, former, said)
    }

    @Test func areNamedAndHandledOnceTheyAreAdopted() throws {
        let (session, former, said) = try self.session()
        let note = "3 messages of installation \(former) wait for nobody"
        #expect(said.error.contains(note), "\(said.error)")
        let advice = "kii-push inbox adopt --from \(former)"
        #expect(said.error.contains(advice), "\(said.error)")
        let finding = try session.doctorOnInbox()
        #expect(finding["outcome"]?.string == "warning")
        #expect(finding["evidence"]?.string?.contains(note) == true, "\(finding.text)")
        #expect(finding["fix"]?.string?.contains(advice) == true, "\(finding.text)")
        #expect(try session.succeed("inbox", "adopt", "--from", former) == "adopted 3 messages of \(former)\n")
        let received = try session.tool("listen", "-n3", "-t5m")
        for number in 1...3 { #expect(received.output.contains(" n=\(number)"), "\(received.output)") }
        // A dead letter of the former installation can be retried too.
        try session.succeed("inbox", "retry", "5")
        #expect(try session.tool("listen", "-n1", "-t5m").output.contains(" n=5"))
        #expect(try session.doctorOnInbox()["outcome"]?.string == "ok")
    }

    @Test func areHandledAtOnceByWhatReceives() throws {
        let (session, former, _) = try self.session()
        let listener = try session.ready(["listen"])
        let adopted = try session.tool("inbox", "adopt", "--from", former)
        #expect(adopted.output == "adopted 3 messages of \(former)\n", "\(adopted.error)")
        for number in 1...3 { #expect(listener.output(containing: " n=\(number)").contains(" n=\(number)")) }
        listener.stop()
        // The adopted messages stay with this profile.
        try session.succeed("inbox", "retry", "5")
        #expect(try session.tool("listen", "-n1", "-t5m").output.contains(" n=5"))
    }

    @Test func ofAnInstallationThatTheInboxDoesNotKnowThereAreNone() throws {
        let (session, _, _) = try self.session()
        let unknown = try session.tool("inbox", "adopt", "--from", "nobody")
        #expect(unknown.exit == 66)
        #expect(unknown.error.hasPrefix("kii-push: the inbox does not know installation 'nobody'\n"))
        let own = try session.tool("inbox", "adopt", "--from", try session.installation())
        #expect(own.exit == 64)
        let lost = try session.tool("inbox", "adopt", "--from", "a", "--to", "b")
        #expect(lost.exit == 66)
        #expect(lost.error.hasPrefix("kii-push: the inbox does not know installation 'a', or not 'b'\n"))
    }
}
