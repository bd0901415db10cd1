import { expect, test } from 'vitest';
import { createSseCounter } from '../../../bench/service/sse-counter.ts';

const frame = (id: number) => `id: ${id}\nevent: assistant\ndata: {"text":"größer id: 9"}\n\n`;

test('counts every frame wherever its bytes are split', () => {
  const bytes = Buffer.from(
    `: ping\n\nevent: status\ndata: {}\n\n${frame(7)}${frame(8)}${frame(9)}`,
  );
  for (let size = 1; size <= bytes.length; size += 1) {
    const counter = createSseCounter();
    for (let at = 0; at < bytes.length; at += size) counter.take(bytes.subarray(at, at + size));
    expect(counter.count()).toBe(3);
    expect(counter.lastId()).toBe(9);
  }
});

test('fails on a missing, duplicated or reordered frame', () => {
  for (const ids of [
    [1, 3],
    [1, 1],
    [2, 1],
  ]) {
    const counter = createSseCounter();
    expect(() => ids.forEach((id) => counter.take(Buffer.from(frame(id))))).toThrow('came after');
  }
});
