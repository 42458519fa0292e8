// The command `upsurge`; all of it is in UpsurgeCommand, which tests can import.
import UpsurgeCommand

Root.main()
