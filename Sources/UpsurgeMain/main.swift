import UpsurgeCommand

Root.main()
