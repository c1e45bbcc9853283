// SPDX-License-Identifier: Apache-2.0
// loop.cpp - loop.c in C++: a training loop whose batches dlprof follows by the marks of dlprof.h.
//
//	c++ -Iinclude examples/loop.cpp -o loop
//	LD_PRELOAD=build/shim/libdlprof.so ./loop && build/analyzer/dlprof-report dlprof-*.db
//
// usage: loop [WORKERS [LOAD_MS [STEP_MS [BATCHES [STAMPS]]]]]: two epochs of BATCHES. Loading and
// training are sleeps. STAMPS: a file for the loop's own times, "epoch number begin_ns end_ns".
#include <dlprof.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

int64_t now_ns()
{
	using namespace std::chrono;	// of CLOCK_MONOTONIC here, as dlprof's
	return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

void sleep_ms(long ms)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

// Marks the wait for a batch, whichever way it is left.
class Wait {
public:
	Wait() { dlprof_batch_begin(); }
	~Wait() { dlprof_batch_end(number_); }
	void got(int64_t number) { number_ = number; }

private:
	int64_t number_ = DLPROF_END;
};

class Loader {
public:
	Loader(int workers, long count, long load_ms) : count_(count), load_ms_(load_ms)
	{
		running_ = workers;
		for (int i = 0; i < workers; i++)
			threads_.emplace_back([this] { work(); });
	}

	~Loader()
	{
		for (std::thread &thread : threads_)
			thread.join();
	}

	// The next batch in the order in which they are done; false: there is none.
	bool next(long &number)
	{
		Wait wait;
		std::unique_lock<std::mutex> lock(mutex_);
		filled_.wait(lock, [this] { return !done_.empty() || !running_; });
		if (done_.empty())
			return false;
		number = done_.front();
		done_.pop_front();
		emptied_.notify_one();
		wait.got(number);
		return true;
	}

private:
	static constexpr std::size_t capacity = 8;

	void work()
	{
		std::unique_lock<std::mutex> lock(mutex_);
		while (next_ < count_) {
			const long number = next_++;
			lock.unlock();
			dlprof_load_begin(number);
			sleep_ms(load_ms_);
			dlprof_load_end(number);
			lock.lock();
			emptied_.wait(lock, [this] { return done_.size() < capacity; });
			done_.push_back(number);
			filled_.notify_one();
		}
		running_--;
		filled_.notify_one();
	}

	std::mutex mutex_;
	std::condition_variable filled_, emptied_;
	std::deque<long> done_;
	std::vector<std::thread> threads_;
	long next_ = 0, count_, load_ms_;
	int running_ = 0;
};

}

int main(int argc, char **argv)
{
	const int workers = argc > 1 ? std::atoi(argv[1]) : 2;
	const long load_ms = argc > 2 ? std::atol(argv[2]) : 30;
	const long step_ms = argc > 3 ? std::atol(argv[3]) : 5;
	const long batches = argc > 4 ? std::atol(argv[4]) : 60;
	std::ofstream stamps(argc > 5 ? argv[5] : "/dev/null");
	long count = 0;

	for (int epoch = 0; epoch < 2; epoch++) {
		Loader loader(workers, batches, load_ms);
		dlprof_mark(("epoch " + std::to_string(epoch)).c_str());
		for (;;) {
			long number = 0;
			const int64_t begin_ns = now_ns();
			const bool there = loader.next(number);
			const int64_t end_ns = now_ns();
			if (!there)
				break;
			stamps << epoch << ' ' << number << ' ' << begin_ns << ' ' << end_ns << '\n';
			sleep_ms(step_ms);
			count++;
		}
	}
	std::printf("trained %ld\n", count);
	return 0;
}
