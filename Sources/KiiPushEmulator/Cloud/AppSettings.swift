import KiiPushCore

/// Settings of the app that Kii's developer portal or Kii's operators may change while the app runs.
///
/// In the emulator, `GET` and `PATCH /__kii/app` read and change them. They are not stored: each start of the emulator
/// begins with ``Emulator/Configuration``.
package struct AppSettings: Sendable, Hashable {
    /// Whether the cloud refuses requests to the app with 403 `APP_DISABLED`.
    package var isDisabled = false
    package var endpointDelay = Duration.zero
    package var mqttTTL: Duration?
    package var tokenLifetime: Duration?
    package var givesRefreshTokens = true
    var requiresThingPassword = false
    package var requestLimit: RequestLimit?
    var networks = Set(PushNetwork.keyed)

    package init() {}
}

package struct RequestLimit: Sendable, Hashable {
    var requests: Int
    var period: Duration
}

extension AppSettings {
    /// Times are in seconds; `null` means no end or no limit.
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

    /// These settings with the members of `body`. Absent members keep their values.
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

/// A period begins with the first request after the previous period.
struct RequestWindow: Sendable {
    private var count = 0
    private var end = Timestamp(millisecondsSinceEpoch: .min)

    /// - Throws: ``KiiFailure`` 429 above the limit, with the whole seconds to wait. The status is Kii's; the error
    ///   code is a guess.
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
    func secondsRoundedUp(to later: Timestamp) -> Int64 {
        max(0, later.millisecondsSinceEpoch - self.millisecondsSinceEpoch + 999) / 1000
    }
}

extension JSONValue {
    static func seconds(_ duration: Duration) -> JSONValue {
        let milliseconds = duration.wholeMillisecondsRoundedUp
        guard milliseconds % 1000 != 0 else { return JSONValue(milliseconds / 1000) }
        return JSONValue(Double(milliseconds) / 1000) ?? .null
    }
}
