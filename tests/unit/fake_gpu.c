/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_gpu.h"

#include <stdlib.h>
#include <string.h>

enum { PREFETCH = 13 }; /* the other stream */

/* Names of kernels; OPTIMIZER is one by its name. */
enum name {
	EMBED = 1,
	GEMM,
	BIAS,
	RELU,
	NORM,
	LOSS,
	LOSS_BACK,
	DGRAD,
	WGRAD,
	CLIP,
	OPTIMIZER,
	METRIC,
	BUCKETS = 100
};

struct fake_gpu fake_gpu;

static int64_t busy_ns[PREFETCH + 1];
static uint64_t state;

uint64_t fake_gpu_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

int fake_gpu_pick(int most)
{
	return (int)(fake_gpu_random() >> 33) % most;
}

void fake_gpu_begin(uint64_t seed)
{
	state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	for (int i = 0; i < 8; i++)
		fake_gpu_random();
	if (!fake_gpu.ops) {
		fake_gpu.ops = malloc(FAKE_GPU_MOST * sizeof(*fake_gpu.ops));
		fake_gpu.ends = malloc(FAKE_GPU_MOST * sizeof(*fake_gpu.ends));
	}
	fake_gpu.op_count = fake_gpu.end_count = 0;
	fake_gpu.now_ns = 1000 * FAKE_GPU_US;
	memset(busy_ns, 0, sizeof(busy_ns));
}

void fake_gpu_emit(enum rhythm_kind kind, int id, uint64_t bytes, int stream, int us)
{
	int64_t length_ns = (us * (900 + fake_gpu_pick(200)) * FAKE_GPU_US) / 1000;
	struct rhythm_op *op = &fake_gpu.ops[fake_gpu.op_count++];

	fake_gpu.now_ns += (3 + fake_gpu_pick(3)) * FAKE_GPU_US;
	if (busy_ns[stream] < fake_gpu.now_ns)
		busy_ns[stream] = fake_gpu.now_ns;
	*op = (struct rhythm_op){
		.begin_ns = busy_ns[stream],
		.id = (uint64_t)id * UINT64_C(0xd1342543de82ef95),
		.bytes = bytes,
		.stream = (uint32_t)stream,
		.kind = (uint8_t)kind,
		.is_optimizer = kind == RHYTHM_KERNEL && id == OPTIMIZER && fake_gpu.named,
	};
	op->end_ns = busy_ns[stream] += length_ns;
}

void fake_gpu_kernel(int id, int us)
{
	fake_gpu_emit(RHYTHM_KERNEL, id, 0, FAKE_GPU_COMPUTE, us);
}

void fake_gpu_read_back(void)
{
	fake_gpu_emit(RHYTHM_D2H, 0, 4, FAKE_GPU_COMPUTE, 2);
	fake_gpu_emit(RHYTHM_SYNC, 3, 0, 0, 1);
	fake_gpu.now_ns = busy_ns[FAKE_GPU_COMPUTE] + 20 * FAKE_GPU_US;
}

static void end_step(void)
{
	fake_gpu.ends[fake_gpu.end_count++] = fake_gpu.ops[fake_gpu.op_count - 1].begin_ns;
}

void fake_gpu_input(int stream)
{
	fake_gpu_emit(RHYTHM_H2D, 0, 1500000, stream, 120);
	fake_gpu_emit(RHYTHM_H2D, 0, 512, stream, 2);
}

static void forward(int layers)
{
	fake_gpu_kernel(EMBED, 20);
	for (int i = 0; i < layers; i++) {
		fake_gpu_kernel(GEMM, 80);
		fake_gpu_kernel(BIAS, 8);
		fake_gpu_kernel(RELU, 8);
	}
	fake_gpu_kernel(LOSS, 10);
}

static void backward(int layers)
{
	fake_gpu_kernel(LOSS_BACK, 10);
	for (int i = 0; i < layers; i++) {
		fake_gpu_kernel(RELU, 8);
		fake_gpu_kernel(DGRAD, 80);
		fake_gpu_kernel(WGRAD, 80);
	}
}

static void optimize(void)
{
	fake_gpu_kernel(CLIP, 10);
	for (int i = 0; i < 3; i++)
		fake_gpu_kernel(OPTIMIZER, 40);
	end_step();
}

void fake_gpu_start(void)
{
	for (int i = 0; i < 40; i++) {
		fake_gpu_emit(RHYTHM_H2D, 0, 1u << fake_gpu_pick(22), FAKE_GPU_COMPUTE, 30);
		fake_gpu_kernel(FAKE_GPU_ANY + fake_gpu_pick(30), 20);
	}
}

static void single_stream(int steps)
{
	for (int i = 0; i < steps; i++) {
		fake_gpu.now_ns += fake_gpu_pick(2000) * FAKE_GPU_US;
		fake_gpu_input(FAKE_GPU_COMPUTE);
		forward(6);
		backward(6);
		optimize();
		if (i % 10 == 9)
			fake_gpu_read_back();
	}
}

static void prefetched(int steps)
{
	fake_gpu_input(PREFETCH);
	for (int i = 0; i < steps; i++) {
		int when = fake_gpu_pick(4);

		if (when == 0)
			fake_gpu_input(PREFETCH);
		forward(4);
		if (when == 1)
			fake_gpu_input(PREFETCH);
		backward(4);
		if (when == 2)
			fake_gpu_input(PREFETCH);
		optimize();
		if (when == 3)
			fake_gpu_input(PREFETCH);
		if (i % 3 == 2)
			fake_gpu.now_ns = busy_ns[FAKE_GPU_COMPUTE];
	}
}

static void accumulated(int steps)
{
	for (int i = 0; i < steps; i++) {
		for (int k = 0; k < 4; k++) {
			fake_gpu_input(FAKE_GPU_COMPUTE);
			forward(5);
			backward(5);
		}
		optimize();
		fake_gpu_emit(RHYTHM_MEMSET, 0, 4096, FAKE_GPU_COMPUTE, 2);
	}
}

static void validated(int steps)
{
	for (int i = 0; i < steps; i++) {
		fake_gpu_input(FAKE_GPU_COMPUTE);
		forward(6);
		backward(6);
		optimize();
		if (i % 12 != 11)
			continue;
		for (int k = 0; k < 5; k++) {
			fake_gpu_input(FAKE_GPU_COMPUTE);
			forward(6);
			fake_gpu_kernel(METRIC, 5);
			fake_gpu_read_back();
		}
	}
}

static void one_graph(int steps)
{
	for (int i = 0; i < steps; i++) {
		fake_gpu.now_ns += fake_gpu_pick(3000) * FAKE_GPU_US;
		fake_gpu_input(FAKE_GPU_COMPUTE);
		fake_gpu_emit(RHYTHM_GRAPH, 1, 0, FAKE_GPU_COMPUTE, 4000);
		end_step();
		if (i % 20 == 19)
			fake_gpu_read_back();
	}
}

/* Other kernels for other shapes, and as many as the sequence is long. */
static void variable_lengths(int steps)
{
	for (int i = 0; i < steps; i++) {
		int length = 8 + fake_gpu_pick(57), bucket = BUCKETS + length / 16;

		fake_gpu_emit(RHYTHM_H2D, 0, (uint64_t)length * 4096, FAKE_GPU_COMPUTE, length);
		fake_gpu_kernel(EMBED, 20);
		for (int k = 0; k < length; k++) {
			fake_gpu_kernel(RELU, 5);
			fake_gpu_kernel(NORM, 5);
		}
		fake_gpu_kernel(bucket, 100);
		fake_gpu_kernel(LOSS, 10);
		fake_gpu_kernel(LOSS_BACK, 10);
		for (int k = 0; k < length; k++)
			fake_gpu_kernel(DGRAD, 8);
		fake_gpu_kernel(bucket + 50, 100);
		optimize();
	}
}

/* The same number of kernels, half of them fake_gpu.named after the shape. */
static void bucketed(int steps)
{
	for (int i = 0; i < steps; i++) {
		int bucket = BUCKETS + fake_gpu_pick(4);

		fake_gpu_emit(RHYTHM_H2D, 0, 100000, FAKE_GPU_COMPUTE, 20);
		fake_gpu_kernel(EMBED, 20);
		for (int k = 0; k < 6; k++) {
			fake_gpu_kernel(bucket, 80);
			fake_gpu_kernel(NORM, 10);
		}
		fake_gpu_kernel(LOSS, 10);
		fake_gpu_kernel(LOSS_BACK, 10);
		for (int k = 0; k < 6; k++) {
			fake_gpu_kernel(bucket + 50, 80);
			fake_gpu_kernel(bucket + 60, 80);
			fake_gpu_kernel(NORM, 10);
			fake_gpu_kernel(BIAS, 10);
		}
		optimize();
	}
}

const struct fake_gpu_shape fake_gpu_shapes[FAKE_GPU_SHAPES] = {
	{"single stream", single_stream, 1, false},
	{"prefetch stream", prefetched, 1, false},
	{"accumulation x4", accumulated, 4, true},
	{"eval interleaved", validated, 1, false},
	{"one graph", one_graph, 1, false},
	{"variable lengths", variable_lengths, 1, false},
	{"bucketed shapes", bucketed, 1, false},
};
