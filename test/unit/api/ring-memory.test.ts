import { expect, test } from 'vitest';
import { createRingBuffer } from '../../../api/stream/ring-buffer.ts';
import { createRingMemory } from '../../../api/stream/ring-memory.ts';
import { limits } from '../../../core/limits.ts';

const bytes = Buffer.alloc(1_000, 'x');
const itemBytes = bytes.length + limits.feed.itemBytes;
const start = { seq: 0, n: 0 };

/** Three rings that share the memory of `items` events. */
function openRings(items: number, extraBytes = 0) {
  const memory = createRingMemory(items * itemBytes + extraBytes);
  const ring = () => createRingBuffer(0, memory);
  return [ring(), ring(), ring()] as const;
}

test('keeps all rings at the total, and evicts the least recently pushed one byte beyond', () => {
  for (const [extraBytes, expected] of [
    [0, 2],
    [-1, 'overrun'],
  ] as const) {
    const [a, b, c] = openRings(4, extraBytes);
    b.push({ seq: 1, n: 0 }, bytes);
    a.push({ seq: 1, n: 0 }, bytes);
    a.push({ seq: 2, n: 0 }, bytes);
    b.push({ seq: 2, n: 0 }, bytes);
    const ofA = a.take(start);
    expect(ofA === 'overrun' ? ofA : ofA?.to.seq).toBe(expected);
    expect(b.take(start)).toMatchObject({ to: { seq: 2 } });
    expect(c.take(start)).toBeNull();
  }
});

test('a ring without content continues where it was evicted', () => {
  const [a, b] = openRings(1);
  a.push({ seq: 1, n: 0 }, bytes);
  b.push({ seq: 1, n: 0 }, bytes);
  expect(a.evictedThroughSeq()).toBe(1);
  expect(a.take(start)).toBe('overrun');
  expect(a.take({ seq: 1, n: 0 })).toBeNull();
  a.push({ seq: 2, n: 0 }, bytes);
  expect(a.take({ seq: 1, n: 0 })).toMatchObject({ to: { seq: 2 } });
  expect(b.take(start)).toBe('overrun');
});

test('a push evicts nothing of the ring that grows, even if it is larger than the total', () => {
  const [a] = openRings(1);
  for (const seq of [1, 2, 3]) a.push({ seq, n: 0 }, bytes);
  expect(a.take(start)).toMatchObject({ to: { seq: 3 } });
});

test('a closed ring takes no memory, and no further events', () => {
  const [a, b, c] = openRings(2);
  a.push({ seq: 1, n: 0 }, bytes);
  b.push({ seq: 1, n: 0 }, bytes);
  b.close();
  b.push({ seq: 2, n: 0 }, bytes);
  c.push({ seq: 1, n: 0 }, bytes);
  expect(a.take(start)).toMatchObject({ to: { seq: 1 } });
  expect(c.take(start)).toMatchObject({ to: { seq: 1 } });
});
