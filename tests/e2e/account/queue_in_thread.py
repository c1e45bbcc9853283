# SPDX-License-Identifier: Apache-2.0
"""The same, and the training runs in a thread of its own, too."""
import threading

from queue_ahead import finish, train

thread = threading.Thread(target=train)
thread.start()
thread.join()
finish(starts_unseen=True)
