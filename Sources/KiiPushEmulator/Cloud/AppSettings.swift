import KiiPushCore

/// What Kii's developer portal and Kii's operators decide about an app, and may decide anew while it runs.
///
/// `GET` and `PATCH /__kii/app` show and change it. It is not stored: a start begins with its configuration.
package struct AppSettings: Sendable, Hashable {
    /// Whether every request to the app is refused with 403 `APP_DISABLED`.
    package var isDisabled = false
    /// How long after an installation's creation its endpoint is "not ready" (503). Default none.
    package var endpointDelay: Duration
    /// How long an MQTT endpoint is good for, counted from when it was handed out; `nil`, the default, is for ever.
    package var mqttTTL: Duration?
    /// How long a login's token lives when the login does not say; `nil`, the default, is for ever.
    package var tokenLifetime: Duration?
    /// Whether a login brings a refresh token. Default yes.
    package var givesRefreshTokens: Bool
    /// Whether a thing gets an owner only by its password or a code. Default no.
    var requiresThingPassword = false
    /// `nil`, the default, is no limit.
    package var requestLimit: RequestLimit?
    /// The networks that the app has keys for. Default all.
    var networks = Set(PushNetwork.keyed)

    package init(
        endpointDelay: Duration = .zero, mqttTTL: Duration? = nil, tokenLifetime: Duration? = nil,
        givesRefreshTokens: Bool = true
    ) {
        self.endpointDelay = endpointDelay
        self.mqttTTL = mqttTTL
        self.tokenLifetime = tokenLifetime
        self.givesRefreshTokens = givesRefreshTokens
    }
}

/// How many requests an app may make in how long.
package struct RequestLimit: Sendable, Hashable {
    var requests: Int
    var period: Duration
}

extension AppSettings {
    /// The body of `GET /__kii/app`. Times are in seconds; `null` is for ever.
    func json(app: String) -> JSONValue {
        .object(all: [
            "appID": app, "disabled": self.isDisabled, "endpointDelay": JSONValue.seconds(self.endpointDelay),
            "mqttTTL": self.mqttTTL.map(JSONValue.seconds), "tokenLifetime": self.tokenLifetime.map(JSONValue.seconds),
            "refreshTokens": self.givesRefreshTokens,
            "requirePasswordForThingOwnership": self.requiresThingPassword,
            "requestLimit": self.requestLimit.map {
                JSONValue.object(all: ["requests": $0.requests, "seconds": JSONValue.seconds($0.period)])
            },
            "networks": JSONValue.object(
                PushNetwork.keyed.map { ($0.rawValue, JSONValue(self.networks.contains($0))) }),
        ])
    }

    /// These settings with the members of `body` in place of their own (RFC 7396).
    func merging(_ body: ControlBody) throws(KiiFailure) -> AppSettings {
        try body.object([
            "disabled", "endpointDelay", "mqttTTL", "tokenLifetime", "refreshTokens",
            "requirePasswordForThingOwnership", "requestLimit", "networks",
        ])
        var merged = self
        merged.isDisabled = try body["disabled"]?.flag() ?? self.isDisabled
        merged.endpointDelay = try body["endpointDelay"]?.duration(from: .zero) ?? self.endpointDelay
        merged.givesRefreshTokens = try body["refreshTokens"]?.flag() ?? self.givesRefreshTokens
        merged.requiresThingPassword =
            try body["requirePasswordForThingOwnership"]?.flag() ?? self.requiresThingPassword
        if body["mqttTTL"] != nil { merged.mqttTTL = try body.present("mqttTTL")?.duration() }
        if body["tokenLifetime"] != nil { merged.tokenLifetime = try body.present("tokenLifetime")?.duration() }
        if body["requestLimit"] != nil {
            merged.requestLimit = nil
            if let limit = body.present("requestLimit") { merged.requestLimit = try RequestLimit(limit) }
        }
        if let networks = body.present("networks") {
            try networks.object(PushNetwork.keyed.map { $0.rawValue })
            for network in PushNetwork.keyed {
                guard let hasKey = try networks[network.rawValue]?.flag() else { continue }
                if hasKey { merged.networks.insert(network) } else { merged.networks.remove(network) }
            }
        }
        return merged
    }
}

extension RequestLimit {
    init(_ body: ControlBody) throws(KiiFailure) {
        try body.object(["requests", "seconds"])
        guard let requests = try body["requests"]?.count(), let period = try body["seconds"]?.duration() else {
            throw .invalidInput("requestLimit needs requests and seconds.")
        }
        self.init(requests: requests, period: period)
    }
}

/// Counts requests against a ``RequestLimit``: so many from a first one on, then a new count begins.
struct RequestWindow: Sendable {
    private var count = 0
    /// Before the first request: long ago.
    private var end = Timestamp(millisecondsSinceEpoch: .min)

    /// - Throws: ``KiiFailure`` 429 with the whole seconds to wait. Kii's code for this was not seen; the status was.
    mutating func count(_ limit: RequestLimit, now: Timestamp) throws(KiiFailure) {
        if self.end <= now { (self.count, self.end) = (0, now + limit.period) }
        guard self.count < limit.requests else {
            throw KiiFailure(429, "TOO_MANY_REQUESTS", "The application makes too many requests.")
                .retryAfter(now.secondsRoundedUp(to: self.end))
        }
        self.count += 1
    }
}

extension Timestamp {
    /// Whole seconds until `later`, as `Retry-After` counts them; 0 when it has passed.
    func secondsRoundedUp(to later: Timestamp) -> Int64 {
        max(0, later.millisecondsSinceEpoch - self.millisecondsSinceEpoch + 999) / 1000
    }
}

extension JSONValue {
    /// A time in seconds.
    static func seconds(_ duration: Duration) -> JSONValue {
        let milliseconds = duration.wholeMillisecondsRoundedUp
        guard milliseconds % 1000 != 0 else { return JSONValue(milliseconds / 1000) }
        return JSONValue(Double(milliseconds) / 1000) ?? .null
    }
}
