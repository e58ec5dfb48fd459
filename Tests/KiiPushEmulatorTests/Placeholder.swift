import KiiPushEmulator
import Testing
