import Foundation
package import KiiPushCore

/// The state of a registered agent whose endpoint is the test's broker.
package struct AgentStateFixture: Sendable {
    /// Nobody listens at this address. With this state an agent needs no cloud.
    package static let app = KiiApp(appID: "app", appKey: "key", baseURL: "http://127.0.0.1:1/api")

    /// The same app at the test's cloud, which accepts the state's token.
    package static func app(at baseURL: String) -> KiiApp {
        var app = KiiApp(appID: self.app.appID, appKey: self.app.appKey, baseURL: baseURL)
        app.issuer = self.issuer
        return app
    }

    private static let issuer = "http://127.0.0.1:1"
    private let endpoint: MQTTEndpoint

    /// - Parameter endpoint: the agent's endpoint, without TLS.
    package init(endpoint: MQTTEndpoint) { self.endpoint = endpoint }

    /// - Parameters:
    ///   - port: the broker's port on 127.0.0.1.
    ///   - topic: the topic, and the client ID.
    package init(port: UInt16, topic: String, username: String, password: Secret) {
        self.endpoint = MQTTEndpoint(
            installationID: UUID().uuidString, host: "127.0.0.1", portTCP: port, portSSL: nil, mqttTopic: topic,
            username: username, password: password)
    }

    /// Makes `directory` the state directory of a pseudo user's agent, which expects a session at the broker.
    ///
    /// - Parameters:
    ///   - name: the agent's name.
    ///   - user: the pseudo user's ID. An installation takes over the messages of another installation with the same
    ///     user.
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
