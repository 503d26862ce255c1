# SPDX-License-Identifier: BSD-3-Clause
"""Calls that Ctrl-C ends. Python runs its handlers of signals between instructions of the main thread, so a call on that
thread would end first. It runs on a helper thread instead, and the main thread waits where handlers can run."""

from __future__ import annotations

import concurrent.futures
import os
import threading

_helper = None
_running: dict = {}  # flags of jobs on other threads than the main one


def _forget_helper():
    global _helper
    _helper = None


os.register_at_fork(after_in_child=_forget_helper)  # threads do not survive a fork


def _submit(job):
    """The job's future; None where no thread can be made any more, at the end of the interpreter."""
    global _helper
    if _helper is None:
        _helper = concurrent.futures.ThreadPoolExecutor(1, "sextant")
    try:
        return _helper.submit(job)
    except RuntimeError:
        return None


def cancel_all():
    """At the end of the interpreter: only daemon threads are left then."""
    for cancel in list(_running.values()):
        cancel[0] = 1


def _until_the_end(job, cancel):
    _running[id(cancel)] = cancel
    try:
        return job()
    finally:
        del _running[id(cancel)]


def interruptible(job, cancel):
    """job(), which ends soon after the flag `cancel` (int32_t *) is set. What a handler of signals raises meanwhile sets
    it, and is raised once the job has ended."""
    if threading.current_thread() is not threading.main_thread():
        return _until_the_end(job, cancel)  # signals never reach other threads
    future = _submit(job)
    if future is None:
        return job()
    try:
        return future.result()
    except BaseException:
        cancel[0] = 1
        while not future.done():  # the job uses the caller's arrays
            try:
                concurrent.futures.wait([future])
            except BaseException:  # a second Ctrl-C waits as well; the first is raised
                continue
        raise
