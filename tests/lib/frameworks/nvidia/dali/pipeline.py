# SPDX-License-Identifier: Apache-2.0
import time
from nvidia.dali.types import PipelineAPIType
class Pipeline:
    def __init__(self, count):
        self.count, self.at, self._api_type = count, 0, None
    def used_as(self, kind):
        self._api_type = self._api_type or kind
    def schedule_run(self):
        pass
    def release_outputs(self):
        pass
    def _outputs(self):
        self.at += 1
        if self.at > self.count:
            self.at = 0
            raise StopIteration
        time.sleep(0.002)
        return self.at
    def outputs(self, cuda_stream=None):
        self.used_as(PipelineAPIType.SCHEDULED)
        return self._outputs()
    def share_outputs(self, cuda_stream=None):
        self.used_as(PipelineAPIType.SCHEDULED)
        return self._outputs()
    def run(self, cuda_stream=None, /, **inputs):
        self.used_as(PipelineAPIType.BASIC)
        self.schedule_run()
        return self.outputs(cuda_stream)
