import KiiPushCore

/// The JSON schema of `config.json`: for editors, and for the test that holds the documented examples against it.
enum ConfigurationSchema {
    static var document: JSONValue {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "config.json of kii-push",
            "type": "object",
            "required": ["version"],
            "properties": [
                "$schema": ["type": "string"],
                "version": ["const": JSONValue(VersionedFile.version)],
                "profiles": [
                    "description": "By name.", "type": "object", "additionalProperties": self.object(self.profile),
                ],
            ],
        ]
    }

    /// What each member of a profile may be; ``ProfileConfiguration/members`` are the same.
    static var profile: [(String, JSONValue)] {
        [
            (
                "site",
                ["description": "One of Kii's sites; not with baseURL.", "enum": KiiSite.allCases.map(\.rawValue).json]
            ),
            ("baseURL", self.text("The cloud's address up to and with /api; not with site.")),
            ("appID", self.text("The ID of the app.")),
            ("caFile", self.text("Trust the certificate authorities in this file.")),
            ("clientCertificateFile", self.text("Show this certificate to servers that ask for one.")),
            ("clientKeyFile", self.text("The certificate's key, mode 0600. Default: in the certificate's file.")),
            ("proxy", self.text("Go through this HTTP or SOCKS proxy.")),
            ("userAgent", self.text("What to call oneself to HTTP servers.")),
            (
                "allowPlainHTTP",
                ["description": "Whether baseURL may be http with another machine.", "type": "boolean"]
            ),
            ("subscriptions", self.subscriptions), ("run", self.run),
        ]
    }

    private static var subscriptions: JSONValue {
        let names: JSONValue = ["type": "array", "items": ["type": "string"]]
        return self.object([("topics", names), ("buckets", names)])
    }

    private static var run: JSONValue {
        self.object(
            RunSettings.Member.allCases.map { member in
                switch member {
                case .shell, .present: (member.rawValue, ["type": "boolean"])
                case .jobs, .concurrency:
                    (member.rawValue, ["type": "integer", "minimum": 1, "maximum": JSONValue(HandlerCount.most)])
                case .arguments: (member.rawValue, ["type": "array", "items": ["type": "string"]])
                case .exec, .execTimeout, .forwardTo, .forwardTimeout, .activate, .grace, .exitWhenOffline,
                    .keepAlive, .metricsFile, .metricsSocket:
                    (member.rawValue, ["type": "string"])
                }
            })
    }

    private static func text(_ description: String) -> JSONValue {
        ["description": JSONValue(description), "type": "string"]
    }

    private static func object(_ properties: [(String, JSONValue)]) -> JSONValue {
        ["type": "object", "properties": .object(properties), "additionalProperties": false]
    }
}
