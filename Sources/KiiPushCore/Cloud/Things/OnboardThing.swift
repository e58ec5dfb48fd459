/// Onboards a thing: registers it if it is not there, binds it to an owner if there is one, and gets a token and an
/// MQTT endpoint for it.
///
/// The password counts: the first onboarding sets it, every further one must name it. A further one hands out a further
/// token and changes nothing else, so a call whose answer was lost may be repeated.
///
/// - Source: `POST /thing-if/apps/{appID}/onboardings`, with one media type for each way
public struct OnboardThing: KiiEndpoint {
    /// How, and by whom.
    public var onboarding: ThingOnboarding
    /// The thing's password.
    public var password: Secret

    /// Makes the call.
    public init(_ onboarding: ThingOnboarding, password: Secret) {
        self.onboarding = onboarding
        self.password = password
    }

    /// POST.
    public var method: HTTPMethod { .post }
    /// thing-if.
    public var service: KiiService { .thingIF }
    /// True: what is there is bound once, and a further token harms nobody.
    public var isIdempotent: Bool { true }
    /// 200; 201 is taken as well.
    public var successStatuses: Set<Int> { [200, 201] }
    /// The password.
    public var secrets: [Secret] { [self.password] }

    /// The app's ID and key for a thing by itself; a token for an owner.
    public var authorization: KiiAuthorization {
        switch self.onboarding {
        case .byThing: .app
        case .byOwner, .byOwnerOfRegistered: .token
        }
    }

    /// The thing, its password, its owner and its description.
    public var body: KiiBody {
        let password = ("thingPassword", JSONValue(self.password.reveal()))
        switch self.onboarding {
        case .byThing(let vendorThingID, let description):
            return .json(
                .object([("vendorThingID", JSONValue(vendorThingID)), password] + description.members),
                mediaType: "application/vnd.kii.OnboardingWithVendorThingIDByThing+json")
        case .byOwner(let owner, let vendorThingID, let description):
            return .json(
                .object(
                    [("vendorThingID", JSONValue(vendorThingID)), password, ("owner", JSONValue(owner.text))]
                        + description.members),
                mediaType: "application/vnd.kii.OnboardingWithVendorThingIDByOwner+json")
        case .byOwnerOfRegistered(let owner, let thingID):
            return .json(
                .object([("thingID", JSONValue(thingID)), password, ("owner", JSONValue(owner.text))]),
                mediaType: "application/vnd.kii.OnboardingWithThingIDByOwner+json")
        }
    }

    /// `/apps/{appID}/onboardings`, below thing-if's root.
    public func path(in app: KiiApp) -> KiiPath { .app(app).appending("onboardings") }

    /// Refuses an illegal vendor thing ID, an empty ID or password, and properties that are no object.
    public func validate() throws(KiiInputError) {
        switch self.onboarding {
        case .byThing(let vendorThingID, let description):
            try ThingRegistration.validate(vendorThingID: vendorThingID)
            try description.validate()
        case .byOwner(let owner, let vendorThingID, let description):
            try owner.validate()
            try ThingRegistration.validate(vendorThingID: vendorThingID)
            try description.validate()
        case .byOwnerOfRegistered(let owner, let thingID):
            try owner.validate()
            guard !thingID.isEmpty else { throw KiiInputError(.thingID, rule: "not empty") }
        }
        guard !self.password.reveal().isEmpty else {
            throw KiiInputError(.password, rule: "present and not empty")
        }
    }

    /// Reads `thingID`, `accessToken` and `mqttEndpoint`.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> OnboardedThing {
        let fields = try response.fields()
        let thingID = try fields.string("thingID")
        let endpoint = try fields.object("mqttEndpoint")
        return OnboardedThing(
            thingID: thingID,
            accessToken: AccessToken(principal: .thing(thingID), token: Secret(try fields.string("accessToken"))),
            mqttEndpoint: try MQTTEndpoint(endpoint, of: endpoint.string("installationID"), in: response)
        )
    }
}

/// A thing as it was onboarded: all it needs to receive pushes.
public struct OnboardedThing: Sendable, Hashable {
    /// The ID that the cloud chose (`th.…`).
    public var thingID: String
    /// The thing's token.
    public var accessToken: AccessToken
    /// Where and as whom the thing connects to the broker. It names the installation that onboarding made.
    public var mqttEndpoint: MQTTEndpoint

    /// Describes a thing.
    public init(thingID: String, accessToken: AccessToken, mqttEndpoint: MQTTEndpoint) {
        self.thingID = thingID
        self.accessToken = accessToken
        self.mqttEndpoint = mqttEndpoint
    }
}
