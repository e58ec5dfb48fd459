import Foundation
package import KiiPushCore

/// The state of an agent that has registered, with a broker of the test's own as its endpoint.
package struct AgentStateFixture: Sendable {
    /// Nobody listens there: with this state an agent needs no cloud.
    package static let app = KiiApp(appID: "app", appKey: "key", baseURL: "http://127.0.0.1:1/api")

    /// The same app at a cloud of the test's own, which takes the state's token for its own.
    package static func app(at baseURL: String) -> KiiApp {
        var app = KiiApp(appID: self.app.appID, appKey: self.app.appKey, baseURL: baseURL)
        app.issuer = self.issuer
        return app
    }

    private static let issuer = "http://127.0.0.1:1"
    private let endpoint: MQTTEndpoint

    /// - Parameter endpoint: where the agent receives, without TLS.
    package init(endpoint: MQTTEndpoint) { self.endpoint = endpoint }

    /// - Parameters:
    ///   - port: of a broker on 127.0.0.1.
    ///   - topic: which is the client ID too.
    package init(port: UInt16, topic: String, username: String, password: Secret) {
        self.endpoint = MQTTEndpoint(
            installationID: UUID().uuidString, host: "127.0.0.1", portTCP: port, portSSL: nil, mqttTopic: topic,
            username: username, password: password)
    }

    /// Makes `directory` the state directory of the pseudo user's agent, which expects a session at the broker.
    ///
    /// - Parameters:
    ///   - name: the agent's.
    ///   - user: the pseudo user's ID. What one installation of a user leaves another one takes over.
    package func write(to directory: String, name: String = "default", user: String = "u-1") throws {
        // The documented format of an agent's state, version 1.
        let installation = JSONValue(self.endpoint.installationID)
        let endpoint = JSONValue.object(present: [
            "installationID": self.endpoint.installationID, "host": self.endpoint.host,
            "portTCP": Int(self.endpoint.portTCP ?? 0), "portSSL": 1,
            "portWS": self.endpoint.portWS.map { Int($0) }, "mqttTopic": self.endpoint.mqttTopic,
            "username": self.endpoint.username, "password": self.endpoint.password.reveal(),
        ])
        let state: JSONValue = [
            "version": 1, "appID": JSONValue(AgentStateFixture.app.appID), "account": "pseudo-user",
            "principalType": "user", "principalID": JSONValue(user), "accessToken": "token",
            "issuer": JSONValue(Self.issuer), "installationID": installation, "hasSession": true,
            "usesInboxFile": true,
            "endpoint": endpoint,
        ]
        try PrivateFile.makeDirectory("\(directory)/agents")
        try PrivateFile.replace("\(directory)/agents/\(name).json", with: state.serialized())
    }
}
