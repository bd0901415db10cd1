import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createLineSplitter,
  type SpoolLine,
} from '../../../../../worker/sandbox/output/line-splitter.ts';

function split(chunks: Buffer[], lineMaxBytes: number): SpoolLine[] {
  const splitter = createLineSplitter(lineMaxBytes);
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
}

const line = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\n', ' '));

test('the lines are the same wherever the bytes are split', () => {
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(9)), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
      const chunks: Buffer[] = [];
      for (let at = 0, i = 0; at < bytes.length; i += 1) {
        const length = (cuts[i % Math.max(1, cuts.length)] ?? 3) + 1;
        chunks.push(bytes.subarray(at, at + length));
        at += length;
      }
      const found = split(chunks, 1_000);
      expect(found.map(({ text }) => text)).toEqual(
        lines.map((text) => Buffer.from(text).toString()),
      );
      expect(found.reduce((sum, one) => sum + one.bytes, 0)).toBe(bytes.length);
    }),
  );
});

test('a line at the limit is complete, a longer one is truncated', () => {
  expect(split([Buffer.from('12345\n123456\n')], 5)).toEqual([
    { text: '12345', bytes: 6, cutBytes: 0 },
    { text: '12345', bytes: 7, cutBytes: 1 },
  ]);
});

test('the caller may reuse its buffer', () => {
  const splitter = createLineSplitter(100);
  const buffer = Buffer.from('half');
  splitter.push(buffer);
  buffer.fill('x');
  expect(splitter.push(Buffer.from(' whole\n'))).toEqual([
    { text: 'half whole', bytes: 11, cutBytes: 0 },
  ]);
});
