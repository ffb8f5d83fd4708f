"""``python -m deepstack`` is the command line."""

import sys

from deepstack.app.main import main

sys.exit(main())
