/// Reads one installation.
///
/// - Source: `GET /apps/{appID}/installations/{installationID}` and `/{deviceType}:{installationRegistrationID}`
public struct GetInstallation: KiiEndpoint {
    /// Which one.
    public var reference: InstallationReference

    /// Makes the call.
    public init(_ reference: InstallationReference) {
        self.reference = reference
    }

    /// GET.
    public var method: HTTPMethod { .get }
    /// 200.
    public var successStatuses: Set<Int> { [200] }

    /// The installation's path.
    public func path(in app: KiiApp) -> KiiPath { self.reference.path(in: app) }

    /// Refuses a reference with an empty part.
    public func validate() throws(KiiInputError) { try self.reference.validate() }

    /// Reads the installation.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> Installation {
        try Installation(response.fields())
    }
}

/// Removes an installation; nothing is delivered to it any more.
///
/// - Source: `DELETE /apps/{appID}/installations/{installationID}` and `/{deviceType}:{installationRegistrationID}`
public struct DeleteInstallation: KiiEndpoint {
    /// Nothing.
    public typealias Response = Void

    /// Which one.
    public var reference: InstallationReference

    /// Makes the call.
    public init(_ reference: InstallationReference) {
        self.reference = reference
    }

    /// DELETE.
    public var method: HTTPMethod { .delete }
    /// 204; 200 is taken as well, since Kii documents an empty body and no status.
    public var successStatuses: Set<Int> { [200, 204] }

    /// The installation's path.
    public func path(in app: KiiApp) -> KiiPath { self.reference.path(in: app) }

    /// Refuses a reference with an empty part.
    public func validate() throws(KiiInputError) { try self.reference.validate() }
}

/// Lists the installations of one owner, or, for an administrator, of the whole app, one page at a time.
///
/// Kii's reference shows no pages here; a `paginationKey` is followed all the same, as in its other lists.
///
/// A user's list does not hold the installations of the things that the user owns.
///
/// - Source: `GET /apps/{appID}/installations[?userID=…|?thingID=…]`
public struct ListInstallations: KiiListEndpoint {
    /// Installations.
    public typealias Element = Installation

    /// Whose installations; `nil` means the app's. A user's or thing's token lists its own alone, and is refused with 401
    /// ``KiiErrorCode/unauthorized`` otherwise: everybody else's, and the app's, are for administrators.
    public var owner: Principal?
    /// What ``KiiPage/paginationKey`` of the page before said. `nil` for the first page.
    public var paginationKey: String?

    /// Makes the call.
    public init(of owner: Principal?, paginationKey: String? = nil) {
        self.owner = owner
        self.paginationKey = paginationKey
    }

    /// GET.
    public var method: HTTPMethod { .get }
    /// 200.
    public var successStatuses: Set<Int> { [200] }

    /// `userID` or `thingID`, and `paginationKey`, if there is one.
    public var query: [KiiQueryItem] {
        let owner =
            switch self.owner {
            case .user(let id): [KiiQueryItem("userID", id)]
            case .thing(let id): [KiiQueryItem("thingID", id)]
            case nil: [KiiQueryItem]()
            }
        return owner + (self.paginationKey.map { [KiiQueryItem("paginationKey", $0)] } ?? [])
    }

    /// `/apps/{appID}/installations`.
    public func path(in app: KiiApp) -> KiiPath {
        .app(app).appending("installations")
    }

    /// Refuses an empty ID, which would ask for everybody's.
    public func validate() throws(KiiInputError) {
        guard let owner = self.owner, owner.id.isEmpty else { return }
        if case .user = owner { throw KiiInputError(.userID, rule: "not empty") }
        throw KiiInputError(.thingID, rule: "not empty")
    }

    /// Reads `installations` and `paginationKey`.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> KiiPage<Installation> {
        let fields = try response.fields()
        var installations: [Installation] = []
        for one in try fields.objects("installations") { installations.append(try Installation(one)) }
        return KiiPage(installations, paginationKey: try fields.paginationKey())
    }
}
