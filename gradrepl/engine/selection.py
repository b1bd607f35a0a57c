"""Which of several equal values a partial sort picks: the algorithms of the C++ library and of PyTorch, step by step. Imports nothing.

Where all values differ, any algorithm finds the same ones; these run only where equal values make a difference.
"""


def smallest_places(values, k, comes_first, in_order=True):
    """The places of the first k of `values`, found as PyTorch's topk does: by a heap for small k, else by splitting."""
    items = list(enumerate(values))
    before = lambda x, y: comes_first(x[1], y[1])
    if k * 64 <= len(items):
        partial_sort(items, k, before)
    elif k:
        nth_element(items, k - 1, before)
        if in_order:
            sort(items, k - 1, before)
    return [place for place, _ in items[:k]]


def sorted_places(values, comes_first):
    """The places of all values in order, as a sort that is not stable leaves them."""
    items = list(enumerate(values))
    sort(items, len(items), lambda x, y: comes_first(x[1], y[1]))
    return [place for place, _ in items]


def nth_element(items, nth, before):
    """Put the element that belongs at `nth` there, smaller ones in front of it."""
    first, last = 0, len(items)
    limit = 2 * (last.bit_length() - 1)
    while last - first > 3:
        if limit == 0:
            heap_select(items, first, nth + 1, last, before)
            items[first], items[nth] = items[nth], items[first]
            return
        limit -= 1
        cut = partition(items, first, last, before)
        first, last = (cut, last) if cut <= nth else (first, cut)
    insertion_sort(items, first, last, before)


def partition(items, first, last, before):
    """Split around the median of three, which is moved to the front."""
    a, b, c = first + 1, first + (last - first) // 2, last - 1
    x, y, z = items[a], items[b], items[c]
    if before(x, y):
        middle = b if before(y, z) else c if before(x, z) else a
    else:
        middle = a if before(x, z) else c if before(y, z) else b
    items[first], items[middle] = items[middle], items[first]
    pivot, low, high = items[first], first + 1, last
    while True:
        while before(items[low], pivot):
            low += 1
        high -= 1
        while before(pivot, items[high]):
            high -= 1
        if low >= high:
            return low
        items[low], items[high] = items[high], items[low]
        low += 1


def insertion_sort(items, first, last, before):
    for i in range(first + 1, last):
        item = items[i]
        if before(item, items[first]):
            items[first + 1 : i + 1] = items[first:i]
            items[first] = item
        else:
            insert(items, i, before)


def insert(items, at, before):
    item = items[at]
    while before(item, items[at - 1]):
        items[at] = items[at - 1]
        at -= 1
    items[at] = item


def sort(items, count, before):
    """Sort the first `count`: quicksort down to runs of sixteen, then insertion."""
    spans = [(0, count, 2 * (max(count, 1).bit_length() - 1))]
    while spans:
        first, last, limit = spans.pop()
        while last - first > 16:
            if limit == 0:
                heap_select(items, first, last, last, before)
                sort_heap(items, first, last, before)
                break
            limit -= 1
            cut = partition(items, first, last, before)
            spans.append((cut, last, limit))
            last = cut
    insertion_sort(items, 0, min(count, 16), before)
    for i in range(16, count):
        insert(items, i, before)


def partial_sort(items, k, before):
    heap_select(items, 0, k, len(items), before)
    sort_heap(items, 0, k, before)


def heap_select(items, first, middle, last, before):
    """Keep the smallest in a heap at the front, its largest on top."""
    length = middle - first
    for parent in range((length - 2) // 2, -1, -1) if length >= 2 else ():
        sift(items, first, parent, length, items[first + parent], before)
    for i in range(middle, last):
        if before(items[i], items[first]):
            item, items[i] = items[i], items[first]
            sift(items, first, 0, length, item, before)


def sort_heap(items, first, last, before):
    while last - first > 1:
        last -= 1
        item, items[last] = items[last], items[first]
        sift(items, first, 0, last - first, item, before)


def sift(items, first, hole, length, item, before):
    """Let the hole sink to the bottom, then the item rise from there."""
    top, child = hole, hole
    while child < (length - 1) // 2:
        child = 2 * (child + 1)
        if before(items[first + child], items[first + child - 1]):
            child -= 1
        items[first + hole] = items[first + child]
        hole = child
    if length % 2 == 0 and child == (length - 2) // 2:
        child = 2 * (child + 1)
        items[first + hole] = items[first + child - 1]
        hole = child - 1
    parent = (hole - 1) // 2
    while hole > top and before(items[first + parent], item):
        items[first + hole] = items[first + parent]
        hole, parent = parent, (parent - 1) // 2
    items[first + hole] = item


def kth_place(values, k):
    """The place of the k-th smallest value (from 0), found as PyTorch's kthvalue, median and quickselect do."""
    items = list(enumerate(values))
    after = lambda x, y: (x[1] != x[1] and y[1] == y[1]) or x[1] > y[1]

    def order(i, j):
        if after(items[i], items[j]):
            items[i], items[j] = items[j], items[i]

    left, right = 0, len(items) - 1
    while right > left:
        if right == left + 1:
            order(left, right)
            break
        middle = left + (right - left) // 2
        items[middle], items[left + 1] = items[left + 1], items[middle]
        order(left + 1, right)
        order(left, right)
        order(left + 1, left)
        low, high, pivot = left + 1, right, items[left]
        while True:
            low += 1
            while after(pivot, items[low]):
                low += 1
            high -= 1
            while after(items[high], pivot):
                high -= 1
            if high < low:
                break
            items[low], items[high] = items[high], items[low]
        items[left], items[high] = items[high], items[left]
        left, right = (low if high <= k else left), (high - 1 if high >= k else right)
    return items[k][0]
