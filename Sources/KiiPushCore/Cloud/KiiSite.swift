/// A region of Kii's cloud.
///
/// - Source: Kii's REST guides and SDKs. The old China site `api-cn2` no longer exists.
package enum KiiSite: String, Sendable, Hashable, CaseIterable {
    case us, jp, sg, eu
    /// China. Kii announced that support for this site would end on 2019-07-31.
    case cn3

    package var baseURL: String {
        switch self {
        case .us: "https://api.kii.com/api"
        case .jp, .sg, .eu, .cn3: "https://api-\(self.rawValue).kii.com/api"
        }
    }
}
