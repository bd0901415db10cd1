import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSealer } from '../../../../systems/postgres/admission/seal.ts';

const sealer = createSealer(Buffer.alloc(32, 1));

test('decrypts any text that it has encrypted', () => {
  for (const text of ['', 'ü\0€\u{1f600}', 'x'.repeat(300_000)]) {
    expect(sealer.open(sealer.seal(text, 'run:1'), 'run:1')).toBe(text);
  }
});

test('does not decrypt with another context', () => {
  const sealed = sealer.seal('secret', 'run:1');
  expect(() => sealer.open(sealed, 'run:2')).toThrow();
});

test('does not decrypt with another key', () => {
  const sealed = sealer.seal('secret', 'run:1');
  for (let i = 0; i < 600; i += 1) {
    const other = createSealer(randomBytes(32));
    expect(() => other.open(sealed, 'run:1')).toThrow();
  }
});

test('does not decrypt if any byte was changed or is missing', () => {
  const sealed = sealer.seal('secret', 'run:1');
  for (let i = 0; i < sealed.length; i += 1) {
    const changed = Buffer.from(sealed);
    changed[i] = (changed[i] ?? 0) ^ 1;
    expect(() => sealer.open(changed, 'run:1')).toThrow();
    expect(() => sealer.open(sealed.subarray(0, i), 'run:1')).toThrow();
  }
});

test('encrypts the same text differently each time', () => {
  const sealed = Array.from({ length: 100 }, () => sealer.seal('secret', 'c').toString('hex'));
  expect(new Set(sealed).size).toBe(100);
});

test('rejects a key that is not 32 bytes', () => {
  expect(() => createSealer(randomBytes(16))).toThrow('32 bytes');
});
