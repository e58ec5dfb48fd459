import KiiPushCommandLine
import kii_push

@main
enum Program {
    static func main() async { await KiiPushCommand.main() }
}
