/* SPDX-License-Identifier: Apache-2.0 */
/* list.h - intrusive doubly linked lists with a head node */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

/** struct list - a head, or a member's link; a member that is in no list points at itself */
struct list {
	struct list *next, *prev;
};

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_is_empty(const struct list *l)
{
	return l->next == l;
}

/* NOLINTBEGIN(clang-analyzer-*): that members point at members is an invariant it cannot see */
static inline void list_add_between(struct list *n, struct list *prev, struct list *next)
{
	n->prev = prev;
	n->next = next;
	prev->next = n;
	next->prev = n;
}

/** list_push() - append @n at the tail of @head */
static inline void list_push(struct list *head, struct list *n)
{
	list_add_between(n, head->prev, head);
}

/** list_push_front() - put @n before the first member of @head */
static inline void list_push_front(struct list *head, struct list *n)
{
	list_add_between(n, head, head->next);
}

/** list_del() - take @n out of its list; harmless on a member that is in none */
static inline void list_del(struct list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	list_init(n);
}

/** list_pop() - first member taken out, or NULL */
static inline struct list *list_pop(struct list *head)
{
	struct list *n = head->next;

	if (n == head)
		return NULL;
	list_del(n);
	return n;
}

/** list_splice() - move all members of @from to the tail of @to */
static inline void list_splice(struct list *to, struct list *from)
{
	if (list_is_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

/* NOLINTEND(clang-analyzer-*) */

#define list_entry(node_, type_, member_) container_of(node_, type_, member_)

/* NOLINTBEGIN(bugprone-macro-parentheses): @it_ is the name of a variable */
#define list_for_each(it_, head_)                                                                  \
	for (struct list *it_ = (head_)->next; it_ != (head_); it_ = it_->next)

/** list_for_each_safe() - the body may take @it_ out and free it */
#define list_for_each_safe(it_, head_)                                                             \
	for (struct list *it_ = (head_)->next, *it_##_next = it_->next; it_ != (head_);            \
	     it_ = it_##_next, it_##_next = it_->next)
/* NOLINTEND(bugprone-macro-parentheses) */
