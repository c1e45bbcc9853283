# SPDX-License-Identifier: Apache-2.0
import enum
PipelineAPIType = enum.Enum("PipelineAPIType", ["BASIC", "ITERATOR", "SCHEDULED"], start=0)
