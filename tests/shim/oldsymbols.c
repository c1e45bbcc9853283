/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oldsymbols.c - a program that was linked before 2003: condition variables of GLIBC_2.2.5.
 *
 * Such a variable is only a pointer, to memory that libc allocates; functions of the newer kind
 * would write past it. Status 0: nothing was written past it, and both kinds work side by side.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef pthread_cond_t cond;
int old_wait(cond *condition, pthread_mutex_t *mutex);
int old_timedwait(cond *condition, pthread_mutex_t *mutex, const struct timespec *until);
int old_signal(cond *condition);
__asm__(".symver old_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver old_timedwait, pthread_cond_timedwait@GLIBC_2.2.5");
__asm__(".symver old_signal, pthread_cond_signal@GLIBC_2.2.5");

static struct {
	void *condition;
	unsigned char behind[sizeof(pthread_cond_t)];
} old;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn;

static void *work(void *argument)
{
	pthread_mutex_lock(&mutex);
	turn = 1;
	old_signal((cond *)&old.condition);
	while (turn != 2)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	return argument;
}

int main(void)
{
	struct timespec until;
	pthread_t thread;
	int bad = 0;

	memset(old.behind, 0x5a, sizeof(old.behind));
	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, work, NULL);
	while (turn != 1)
		old_wait((cond *)&old.condition, &mutex);
	turn = 2;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	pthread_mutex_lock(&mutex);
	clock_gettime(CLOCK_REALTIME, &until);
	bad += old_timedwait((cond *)&old.condition, &mutex, &until) != 110;
	for (size_t i = 0; i < sizeof(old.behind); i++)
		bad += old.behind[i] != 0x5a;
	bad += old.condition == NULL;
	printf("%d wrong\n", bad);
	return bad != 0;
}
