import Glibc

extension String {
    /// Whether the other is the same UTF-8, as MQTT and Kii compare: to `==`, texts that only look the same are equal.
    package func hasBytes(of other: String) -> Bool {
        let (left, right) = (self.utf8, other.utf8)
        guard left.count == right.count else { return false }
        let isSame = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return memcmp(first, second, left.count) == 0
            }
        }
        return (isSame ?? nil) ?? left.elementsEqual(right)
    }
}
