/* left.c - how a call of the program is distinguished from one inside of another: also where that one was
 * left by longjmp, siglongjmp or an exception, and did not return.
 *
 * A call of MPI that begins inside another one is the library's own, or one of a callback, and is not
 * recorded. Where the one around it was left by a jump, nothing says so; but its wrapper has no frame on the
 * stack any more. So the stack is unwound, which only calls inside of others pay for. What was left is
 * recorded as a call that was refused. A stack that cannot be unwound up to where the wrapper was says
 * nothing: then it is there.
 */
#define _GNU_SOURCE
#include "trc.h"

#include <dlfcn.h>
#include <string.h>
#include <unwind.h>

struct search {
    uintptr_t now,
        wanted;    /* addresses in the frames of the wrapper that asks, and of the one that may be left */
    uintptr_t end; /* of the frame before */
    void *code;    /* which this frame runs */
    bool around, there, beyond;
};

static bool is_wrapper(void *code)
{
    Dl_info info;
    return dladdr(code, &info) && info.dli_fname && strstr(info.dli_fname, "libmarstrace");
}

/* With the address of each function comes where the stack was when it called the one before. */
static _Unwind_Reason_Code frame_pass(struct _Unwind_Context *context, void *argument)
{
    struct search *s = argument;
    uintptr_t end = _Unwind_GetCFA(context);
    if (s->around && s->end <= s->wanted && s->wanted < end && is_wrapper(s->code))
        s->there = true;
    s->around |= s->end <= s->now && s->now < end; /* the next frame is around the wrapper that asks */
    s->beyond |= end > s->wanted;
    s->end = end;
    s->code = (void *)_Unwind_GetIP(context);
    return s->there ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/* Is it inside of a call that was left by a jump? That one is recorded, then. */
static bool left(struct trc_thread *t, const void *now)
{
    struct search s = {.now = (uintptr_t)now, .wanted = (uintptr_t)t->stack, .end = UINTPTR_MAX};
    for (uint32_t i = 0; !t->inside && i < t->polls; i++)
        if (t->poll[i].asked.inside)
            s.wanted = (uintptr_t)t->poll[i].asked.inside;
    _Unwind_Backtrace(frame_pass, &s);
    if (s.there || !s.beyond)
        return false;
    if (!trc.left)
        trc_warn("%s was left by longjmp or an exception; it is recorded as a call that did nothing",
                 t->inside ? trc_function[t->function].name : "a test");
    trc.left = true;
    for (uint32_t i = 0; i < t->polls; i++)
        t->poll[i].asked.inside = NULL;
    if (t->recording) {
        trc_warn("this happened while it was being recorded: the rest of the thread is not recorded");
        t->off = true;
    } else if (t->inside) {
        trc_record_left(t);
    }
    return true;
}

struct trc_thread *trc_enter_from(unsigned function, const void *stack)
{
    struct trc_thread *t = trc_me;
    if (!t) {
        t = trc_thread_begin();
        if (!t)
            return NULL;
    }
    if (t->off || ((t->inside || (t->light && trc_light_inside(t))) && !left(t, stack)) || t->off)
        return NULL;
    t->inside = true;
    t->function = function;
    t->stack = stack;
    t->numbers = 0;
    trc_clock_entered(t);
    if (t->light)
        trc_light_over(t);
    t->called = t->enter;
    return t;
}

struct trc_thread *trc_enter(unsigned function)
{
    return trc_enter_from(function, TRC_CALLER);
}
