/* SPDX-License-Identifier: Apache-2.0 */
#include "record/waits.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/sys.h"
#include "base/text.h"
#include "record/fd.h"
#include "record/tally.h"

/* a slot has at most this many named peers, as each sample may have a server of its own */
#define PEERS_MAX  16
#define NAME_BYTES THREAD_LOCK_BYTES

static const char *const kind_names[WAIT_KIND_MAX] = {
#define WAIT_KIND(id, name, meaning) name,
#include "dlprof/wait_kinds.def"
#undef WAIT_KIND
};

/* Returns the peer's tally; without room, that of DLPROF_TALLY_OTHERS, or NULL. */
static struct dlprof_tally *tally_of(struct thread *thread, enum wait_kind kind, const char *name)
{
	const char *detail = kind_names[kind];
	uint32_t peers = 0;

	for (uint32_t i = 0; thread->tallies && i < DLPROF_TALLY_NAMED_COUNT; i++) {
		struct dlprof_tally *tally = &thread->tallies[i];

		if (tally->kind != DLPROF_TALLY_WAIT)
			continue;
		if (strcmp(tally->name, name) == 0 && strcmp(tally->detail, detail) == 0)
			return tally;
		peers += tally->name[0] != '\0';
	}
	if (name[0] && peers >= PEERS_MAX)
		name = DLPROF_TALLY_OTHERS;
	return tally_named(thread, DLPROF_TALLY_WAIT, name, detail, 0);
}

static void add_v4(struct text *name, const uint8_t bytes[4], uint16_t port)
{
	text_format(name, "%d.%d.%d.%d:%d", bytes[0], bytes[1], bytes[2], bytes[3], ntohs(port));
}

static void add_hex(struct text *name, unsigned int number)
{
	static const char digits[] = "0123456789abcdef";

	for (int shift = 12; shift >= 0; shift -= 4)
		if (number >> shift || !shift)
			text_add_bytes(name, &digits[number >> shift & 15], 1);
}

/* Adds an address such as "[fe80::1]:443", with "::" for the longest run of zeroes. */
static void add_v6(struct text *name, const uint8_t bytes[16], uint16_t port)
{
	int best = 8, best_length = 1;

	for (int i = 0, length; i < 8; i += length + 1) {
		for (length = 0; i + length < 8; length++)
			if (bytes[2 * (i + length)] || bytes[2 * (i + length) + 1])
				break;
		if (length > best_length) {
			best = i;
			best_length = length;
		}
	}
	text_add(name, "[");
	for (int i = 0; i < 8; i++) {
		if (i == best) {
			text_add(name, "::");
			i += best_length - 1;
			continue;
		}
		text_add(name, i && i != best + best_length ? ":" : "");
		add_hex(name, bytes[2 * i] << 8 | bytes[2 * i + 1]);
	}
	text_format(name, "]:%d", ntohs(port));
}

static void add_peer(struct text *name, int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_un local;
	} at;
	socklen_t length = sizeof(at);
	char path[sizeof(at.local.sun_path) + 1] = "";
	const struct in6_addr *v6 = &at.v6.sin6_addr;

	memset(&at, 0, sizeof(at));
	if (sys_call3(SYS_getpeername, fd, &at, &length) < 0)
		at.any.sa_family = AF_UNSPEC;
	if (at.any.sa_family == AF_INET) {
		add_v4(name, (const uint8_t *)&at.v4.sin_addr, at.v4.sin_port);
	} else if (at.any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(v6)) {
		add_v4(name, &v6->s6_addr[12], at.v6.sin6_port);
	} else if (at.any.sa_family == AF_INET6) {
		add_v6(name, v6->s6_addr, at.v6.sin6_port);
	} else if (at.any.sa_family == AF_UNIX) {
		memcpy(path, at.local.sun_path, sizeof(at.local.sun_path));
		/* An abstract socket's name begins with a NUL. */
		if (!path[0] && path[1] && length > sizeof(sa_family_t) + 1)
			path[0] = '@';
		if (length > sizeof(sa_family_t) && path[0])
			text_add(name, text_end(path, name->size));
	}
	if (!name->length)
		text_add(name, at.any.sa_family == AF_UNIX ? "unix socket" : "socket");
}

static struct dlprof_tally *tally_behind(struct thread *thread, int fd)
{
	TEXT(name, NAME_BYTES);

	switch (fd_kind(fd)) {
	case FD_SOCKET:
		add_peer(&name, fd);
		return tally_of(thread, WAIT_SOCKET, name.buffer);
	case FD_PIPE:
		return tally_of(thread, WAIT_PIPE, "pipe");
	default:
		return tally_of(thread, WAIT_OTHER, "");
	}
}

static struct dlprof_tally *tally_of_fd(struct thread *thread, int fd)
{
	struct thread_peer *peer = &thread->peers[(unsigned int)fd % THREAD_PEER_MAX];

	if (fd < 0)
		return tally_of(thread, WAIT_OTHER, "");
	if (likely(peer->tally && peer->fd == fd && peer->version == fd_path_version(fd)))
		return peer->tally;
	peer->tally = NULL;
	peer->fd = fd;
	peer->version = fd_path_version(fd);
	peer->tally = tally_behind(thread, fd);
	return peer->tally;
}

void waits_add(struct thread *thread, enum wait_kind kind, uint64_t ns)
{
	if (ns < WAITS_LEAST_NS)
		return;
	if (kind == WAIT_ASLEEP && thread->tried.lock[0]) {
		thread->tried.count++;
		thread->tried.ns += ns;
	} else {
		tally_add(tally_of(thread, kind, ""), 1, ns, 0);
	}
}

static const char *(*find_mapped)(void) NEAR = NULL;

void waits_on_faults(const char *(*find)(void))
{
	find_mapped = find;
}

void waits_add_faults(struct thread *thread, uint64_t count, uint64_t ns)
{
	const char *path = find_mapped ? find_mapped() : NULL;
	TEXT(name, NAME_BYTES);

	if (!path)
		return;
	text_add(&name, text_end(path, NAME_BYTES));
	tally_add(tally_of(thread, WAIT_FAULT, name.buffer), count, ns, 0);
}

void waits_add_fd(struct thread *thread, int fd, uint64_t ns, uint64_t bytes)
{
	if (bytes || ns >= WAITS_LEAST_NS)
		tally_add(tally_of_fd(thread, fd), ns >= WAITS_LEAST_NS, ns, bytes);
}

void waits_add_write(struct thread *thread, int fd, uint64_t ns, uint64_t bytes)
{
	char link[FD_PATH_BYTES];
	TEXT(name, NAME_BYTES);

	if (fd_kind(fd) == FD_SOCKET) {
		waits_add_fd(thread, fd, ns, 0);
		return;
	}
	fd_link(fd, link);
	text_add(&name, text_end(link, NAME_BYTES));
	tally_add(tally_of(thread, WAIT_WRITE, name.buffer), 1, ns, bytes);
}

static void add_tried(struct thread *thread, enum wait_kind kind, const char *name)
{
	struct thread_tried *tried = &thread->tried;

	if (tried->count)
		tally_add(tally_of(thread, kind, name), tried->count, tried->ns, 0);
	*tried = (struct thread_tried){0};
}

/* Counts sleeps since the last try for a lock as plain sleeps. */
static void settle(struct thread *thread)
{
	if (unlikely(thread->tried.lock[0]))
		add_tried(thread, WAIT_ASLEEP, "");
}

static void try_named(struct thread *thread, const char *name, bool is_held)
{
	if (strcmp(thread->tried.lock, name) == 0)
		add_tried(thread, WAIT_LOCK, name);
	else if (is_held)
		settle(thread);
	if (is_held)
		strcpy(thread->tried.lock, name);
}

void waits_try(struct thread *thread, const char *path, bool is_held)
{
	TEXT(name, NAME_BYTES);

	if (!is_held && !thread->tried.lock[0])
		return;
	text_add(&name, text_end(path, NAME_BYTES));
	try_named(thread, name.buffer, is_held);
}

static _Atomic uint64_t received;

void waits_received(uint64_t bytes)
{
	atomic_fetch_add_explicit(&received, bytes, memory_order_relaxed);
}

void waits_begin(void)
{
	atomic_store_explicit(&received, 0, memory_order_relaxed);
}

/* Ends a load. Takes other threads' bytes away: only one of several loads counts them. */
void waits_end(struct thread *thread)
{
	const uint64_t bytes = atomic_exchange_explicit(&received, 0, memory_order_relaxed);

	settle(thread);
	if (unlikely(bytes))
		tally_add(tally_of(thread, WAIT_THREAD, ""), 0, 0, bytes);
}

void waits_add_lock(struct thread *thread, int fd, uint64_t ns, bool is_held)
{
	char path[FD_PATH_BYTES];
	TEXT(name, NAME_BYTES);

	if (ns < WAITS_LEAST_NS && !is_held && !thread->tried.lock[0])
		return;
	fd_path(fd, path);
	text_add(&name, text_end(path, NAME_BYTES));
	try_named(thread, name.buffer, is_held);
	if (ns >= WAITS_LEAST_NS)
		tally_add(tally_of(thread, WAIT_LOCK, name.buffer), 1, ns, 0);
}
