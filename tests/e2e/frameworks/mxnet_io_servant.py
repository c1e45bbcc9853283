# SPDX-License-Identifier: Apache-2.0
# nothing: []


from mxnet.io.io import NDArrayIter
import multiprocessing
worker = multiprocessing.get_context("fork").Process(target=list, args=(NDArrayIter(4),),
                                                     daemon=True)
worker.start(); worker.join(); print(worker.exitcode)
