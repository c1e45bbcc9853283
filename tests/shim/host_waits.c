/* SPDX-License-Identifier: Apache-2.0 */
/* host_waits.c - calls that may sleep: of polls, sockets, semaphores, timers; see host_calls.c. */
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host_calls.h"

static const struct timespec soon = {0, 2000000};
static const struct timespec wrong = {0, -1};

static void polls(int in, int out)
{
	struct pollfd fd = {.fd = in, .events = POLLIN};
	struct timeval shortly = {0, 2000};
	struct epoll_event event = {.events = EPOLLIN, .data.fd = 5};
	int epoll = epoll_create1(0);
	fd_set set;

	SHOW(poll(&fd, 1, 0));
	SHOW(poll(&fd, 1, 2));
	SHOW(poll(NULL, 1, 0));
	SHOW(ppoll(&fd, 1, &soon, NULL));
	SHOW(ppoll(&fd, 1, &wrong, NULL));
	SHOW(host_poll_chk(&fd, 1, 0, sizeof(fd)));
	SHOW(host_ppoll_chk(&fd, 1, &soon, NULL, sizeof(fd)));
	SHOW(epoll_ctl(epoll, EPOLL_CTL_ADD, in, &event));
	SHOW(epoll_wait(epoll, &event, 1, 2));
	SHOW(epoll_wait(99, &event, 1, 2));
	SHOW(epoll_pwait(epoll, &event, 0, 2, NULL));
	SHOW(epoll_pwait2(epoll, &event, 1, &soon, NULL));
	SHOW(epoll_pwait2(epoll, &event, 1, &wrong, NULL));
	FD_ZERO(&set);
	FD_SET(in, &set);
	SHOW(select(in + 1, &set, NULL, NULL, &shortly));
	SHOW(select(-1, NULL, NULL, NULL, &shortly));
	SHOW(pselect(0, NULL, NULL, NULL, &soon, NULL));
	SHOW(pselect(0, NULL, NULL, NULL, &wrong, NULL));
	SHOW(write(out, "abcdefgh", 8));
	SHOW(poll(&fd, 1, 1000));
	SHOW(fd.revents);
	SHOW(epoll_pwait(epoll, &event, 1, 1000, NULL));
	SHOW(event.data.fd);
	FD_SET(in, &set);
	SHOW(select(in + 1, &set, NULL, NULL, NULL));
	SHOW(close(epoll));
}

static void sockets(int in, int out)
{
	char buffer[16] = {0};
	struct iovec part = {buffer, 3};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct mmsghdr several = {.msg_hdr = message};
	struct sockaddr_storage from;
	socklen_t length = sizeof(from);

	SHOW(send(out, "0123456789abcdefghijklmnop", 26, 0));
	SHOW(recv(in, buffer, seven, 0));
	SHOW(recvfrom(in, buffer, seven, 0, (struct sockaddr *)&from, &length));
	SHOW(length);
	show_text(buffer);
	SHOW(recvmsg(in, &message, 0));
	show_text(buffer);
	SHOW(host_recv_chk(in, buffer, 3, sizeof(buffer), 0));
	SHOW(host_recvfrom_chk(in, buffer, 3, sizeof(buffer), 0, NULL, NULL));
	show_text(buffer);
	SHOW(recv(in, buffer, sizeof(buffer), MSG_DONTWAIT));
	SHOW(recv(in, buffer, sizeof(buffer), MSG_DONTWAIT));
	SHOW(send(out, "one", 3, 0));
	SHOW(send(99, "one", 3, 0));
	SHOW(sendto(99, "one", 3, 0, NULL, 0));
	SHOW(sendmsg(99, &message, 0));
	SHOW(writev(99, &part, 1));
	SHOW(write(99, "one", 3));
	SHOW(host_write(99, "one", 3));
	SHOW(recvmmsg(in, &several, 1, 0, NULL));
	SHOW(several.msg_len);
	SHOW(recvmmsg(99, &several, 1, 0, NULL));
	SHOW(recvmsg(99, &message, 0));
	SHOW(recvfrom(99, buffer, seven, 0, NULL, NULL));
}

static struct timespec later(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_nsec += 2000000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_nsec -= 1000000000;
		time.tv_sec++;
	}
	return time;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn;

static void *take_turns(void *argument)
{
	pthread_mutex_lock(&mutex);
	turn = 1;
	pthread_cond_signal(&condition);
	while (turn != 2)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	return argument;
}

static void threads(void)
{
	struct timespec until;
	pthread_t thread;
	void *value = NULL;
	sem_t semaphore;

	sem_init(&semaphore, 0, 1);
	SHOW(sem_wait(&semaphore));
	until = later(CLOCK_REALTIME);
	SHOW(sem_timedwait(&semaphore, &until));
	until = later(CLOCK_MONOTONIC);
	SHOW(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until));
	SHOW(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &until));
	SHOW(sem_timedwait(&semaphore, &wrong));
	sem_post(&semaphore);
	SHOW(sem_timedwait(&semaphore, &until));

	pthread_mutex_lock(&mutex);
	turn = 0;
	SHOW(pthread_create(&thread, NULL, take_turns, &semaphore));
	while (turn != 1)
		pthread_cond_wait(&condition, &mutex);
	SHOW(pthread_mutex_trylock(&mutex));
	turn = 2;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	SHOW(pthread_join(thread, &value));
	SHOW(value == &semaphore);
	SHOW(pthread_join(pthread_self(), NULL));
	pthread_mutex_lock(&mutex);
	until = later(CLOCK_REALTIME);
	SHOW(pthread_cond_timedwait(&condition, &mutex, &until));
	SHOW(pthread_cond_timedwait(&condition, &mutex, &wrong));
	until = later(CLOCK_MONOTONIC);
	SHOW(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until));
	SHOW(pthread_mutex_unlock(&mutex));
	SHOW(pthread_mutex_trylock(&mutex));
	pthread_mutex_unlock(&mutex);
}

/* Returns the pid of a child that ends at once. */
static pid_t a_child(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(seven);
	return pid;
}

static void children(void)
{
	struct rusage usage;
	siginfo_t info;
	int status = 0;

	SHOW(wait(&status));
	SHOW(waitpid(-1, &status, WNOHANG));
	SHOW(a_child() > 0 && wait(&status) > 0);
	SHOW(WEXITSTATUS(status));
	SHOW(a_child() > 0 && waitpid(-1, &status, 0) > 0);
	SHOW(WEXITSTATUS(status));
	SHOW(a_child() > 0 && wait3(&status, 0, &usage) > 0);
	SHOW(WEXITSTATUS(status));
	SHOW(wait4(-1, &status, 0, &usage));
	SHOW(wait4(a_child(), &status, 0, NULL) > 0);
	SHOW(WEXITSTATUS(status));
	SHOW(system("exit 3"));
	SHOW(system(NULL));
	SHOW(waitid(P_PID, (id_t)a_child(), &info, WEXITED));
	SHOW(info.si_status);
	SHOW(waitid(P_ALL, 0, &info, WEXITED));
	SHOW(waitid(P_ALL, 0, &info, 0));
}

static void syncs(int in)
{
	static char page[1] __attribute__((aligned(65536)));

	SHOW(fsync(in));
	SHOW(fsync(99));
	SHOW(fdatasync(in));
	SHOW(fdatasync(99));
	SHOW(syncfs(99));
	SHOW(msync(page, 1, MS_ASYNC));
	SHOW(msync(page, 1, -1));
	SHOW(sync_file_range(99, 0, 0, SYNC_FILE_RANGE_WRITE));
}

static void ring(int number)
{
	errno = number + 10000;	/* as a careless handler does */
}

/* Makes calls that a signal interrupts after 10 ms, which they must report. */
static void interrupted(int in)
{
	struct itimerval timer = {.it_value.tv_usec = 10000, .it_interval.tv_usec = 10000};
	struct sigaction action = {.sa_handler = ring}, kept;
	struct timespec time = {5, 0};
	struct pollfd fd = {.fd = in, .events = POLLIN};
	sem_t semaphore;
	char byte;

	sem_init(&semaphore, 0, 0);
	sigaction(SIGALRM, &action, &kept);
	setitimer(ITIMER_REAL, &timer, NULL);
	SHOW(poll(&fd, 1, 5000));
	SHOW(recv(in, &byte, 1, 0));
	SHOW(sem_wait(&semaphore));
	SHOW(nanosleep(&time, &time));
	SHOW(time.tv_sec);
	SHOW(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL));
	SHOW(usleep(500000));
	SHOW(sleep(5) > 3);
	memset(&timer, 0, sizeof(timer));
	setitimer(ITIMER_REAL, &timer, NULL);
	sigaction(SIGALRM, &kept, NULL);
}

static void overflow_poll(void)
{
	struct pollfd fd = {.fd = 0};

	host_poll_chk(&fd, seven, 0, sizeof(fd));
}

static void overflow_ppoll(void)
{
	struct pollfd fd = {.fd = 0};

	host_ppoll_chk(&fd, seven, &soon, NULL, sizeof(fd));
}

static void overflow_recv(void)
{
	char small[4];

	host_recv_chk(0, small, seven, sizeof(small), MSG_DONTWAIT);
}

static void overflow_recvfrom(void)
{
	char small[4];

	host_recvfrom_chk(0, small, seven, sizeof(small), MSG_DONTWAIT, NULL, NULL);
}

void host_waits(void)
{
	int pipes[2], ends[2];

	if (pipe(pipes) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		exit(9);
	polls(pipes[0], pipes[1]);
	children();
	syncs(pipes[0]);
	sockets(ends[0], ends[1]);
	threads();
	interrupted(ends[0]);
	SHOW(nanosleep(&soon, NULL));
	SHOW(nanosleep(&wrong, NULL));
	SHOW(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, NULL));
	SHOW(clock_nanosleep(77, 0, &soon, NULL));
	SHOW(usleep(100));
	SHOW(sleep(0));
	close(pipes[0]);
	close(pipes[1]);
	close(ends[0]);
	close(ends[1]);
	host_fatal(overflow_poll);
	host_fatal(overflow_ppoll);
	host_fatal(overflow_recv);
	host_fatal(overflow_recvfrom);
}
