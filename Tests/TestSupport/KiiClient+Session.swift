package import KiiPushCore

extension KiiClient {
    /// A session with `token`, which is not renewed.
    package func session(_ token: Secret) -> KiiSession {
        KiiSession(client: self, token: AccessToken(principal: nil, token: token))
    }
}
