import KiiPushCore
import Testing

@testable import KiiPushCore

@Suite struct TransportChoiceTests {
    private static func letters(
        _ transport: PushAgent.Transport, ports: String, remembers: Bool = false, reached: [Bool?]
    ) -> String {
        var configuration = PushAgent.Configuration(
            app: KiiApp(appID: "a", appKey: "k", baseURL: "https://c/api"), account: .pseudoUser)
        configuration.transport = transport
        var endpoint = MQTTEndpoint(
            installationID: "i", host: "h", portTCP: nil, portSSL: ports.contains("T") ? 8883 : nil, mqttTopic: "t",
            username: "u", password: "p")
        endpoint.portWSS = ports.contains("W") ? 443 : nil
        var choice = TransportChoice(configuration, remembersWebSocket: remembers)
        var letters = ""
        for wasReached in reached + [true] {
            letters += choice.usesWebSocket(at: endpoint) ? "W" : "T"
            choice.ended(at: endpoint, wasReached: wasReached)
        }
        return letters
    }

    @Test(
        arguments: [
            (.automatic, "TW", false, "", "T"), (.automatic, "TW", false, "---", "TTTW"),
            (.automatic, "TW", false, "--+--", "TTTTTT"), (.automatic, "TW", false, "---+++", "TTTWWWW"),
            (.automatic, "TW", false, "---+-", "TTTWWT"), (.automatic, "TW", false, "--------", "TTTWTTTWT"),
            // Offline: the name is not found.
            (.automatic, "TW", false, "--????-", "TTTTTTTW"), (.automatic, "TW", true, "???", "WWWW"),
            (.automatic, "TW", true, "++", "WWW"), (.automatic, "TW", true, "----", "WTTTW"),
            (.automatic, "T", false, "-----", "TTTTTT"), (.automatic, "T", true, "----", "TTTTT"),
            (.automatic, "W", false, "---", "WWWW"), (.tcp, "TW", true, "----", "TTTTT"),
            (.webSocket, "TW", false, "----", "WWWWW"), (.webSocket, "T", false, "", "W"),
        ] as [(PushAgent.Transport, String, Bool, String, String)])
    func theNextPortFollowsFromWhatWasReached(
        transport: PushAgent.Transport, ports: String, remembers: Bool, reached: String, letters: String
    ) {
        let result = Self.letters(
            transport, ports: ports, remembers: remembers, reached: reached.map { $0 == "?" ? nil : $0 == "+" })
        #expect(result == letters)
    }

    @Test(arguments: [(.nameNotResolved, nil), (.timedOut, false)] as [(TransportError.Code, Bool?)])
    func aNameThatIsNotFoundSaysNothingAboutThePort(code: TransportError.Code, wasReached: Bool?) {
        let end = BrokerLink.End(
            cause: .transport(TransportError(code, detail: "")), connectedFor: nil, hadSession: false,
            wasSubscribed: false, wasProbing: false)
        #expect(end.wasReached == wasReached)
    }
}
