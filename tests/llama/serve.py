"""llama.cpp's server as the package xllamacpp brings it, with some of its own program's options.

Runs in the environment beside it, so it imports nothing of this project.
"""

import argparse
import signal

import xllamacpp

parser = argparse.ArgumentParser()
parser.add_argument("-m", dest="model", required=True)
parser.add_argument("--port", type=int, required=True)
parser.add_argument("-c", dest="context", type=int, default=2048)
parser.add_argument("-ub", dest="batch", type=int, default=512)
parser.add_argument("--alias", required=True)
parser.add_argument("--embedding", action="store_true")
parser.add_argument("--reranking", action="store_true")
options = parser.parse_args()

parameters = xllamacpp.CommonParams()
parameters.model.path = options.model
parameters.model_alias = {options.alias}
parameters.hostnames = ["127.0.0.1"]
parameters.port = options.port
parameters.n_ctx, parameters.n_parallel = options.context, 1
parameters.n_batch = parameters.n_ubatch = options.batch
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
parameters.sampling.temp = 0.0  # a small model would not always say the same
parameters.embedding = options.embedding or options.reranking
if options.reranking:
    parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
signal.pause()
