import KiiPushCommandLine
import KiiPushCore

extension StrandedMessages {
    var text: String {
        let (first, last) = (self.numbers.lowerBound, self.numbers.upperBound)
        return "\(self.messages.text(of: "message")) of installation "
            + "\(self.installationID.terminalSafe) \(self.messages == 1 ? "waits" : "wait") for nobody "
            + "(#\(first)\(first == last ? "" : " to #\(last)")): it is not what the profile receives as"
    }

    func advice(_ profile: String) -> String {
        "have them handled: kii-push inbox adopt --from \(self.installationID.terminalSafe)"
            + ProfileLocation.option(of: profile)
    }
}
