import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { workflowIdFor } from '../../core/workflow-id.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const windowStart = new Date('2026-11-21T10:00:00.123Z');
const runId = 'a3bb189e-8bf9-4d3a-9c4e-000000000001';
const idFor = (idempotencyKey: string | null, projectId = 'p1') =>
  workflowIdFor({ projectId, runId, idempotencyKey, windowStart, sha256 });

const keys = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 255,
});

test('names the run where there is no key', () => {
  expect(idFor(null)).toBe(`run/${runId}`);
});

test('names project, key and window where there is one', () => {
  expect(idFor('order-7')).toBe('run/p1/order-7/2026-11-21T10:00:00.123Z');
});

test('hashes a key of 101 characters, and none of 100', () => {
  expect(idFor('k'.repeat(100))).toContain(`/${'k'.repeat(100)}/`);
  expect(idFor('k'.repeat(101))).toBe(
    `run/p1/sha256:${sha256('k'.repeat(101))}/2026-11-21T10:00:00.123Z`,
  );
});

test('two keys never share an id, nor do two projects or a key and no key', () => {
  fc.assert(
    fc.property(keys, keys, (one, other) => {
      expect(idFor(one) === idFor(other)).toBe(one === other);
      expect(idFor(one)).not.toBe(idFor(one, 'p2'));
      expect(idFor(one)).not.toBe(idFor(null));
    }),
  );
});

test('a key that looks like the digest of another is none', () => {
  const long = 'k'.repeat(200);
  expect(idFor(`sha256:${sha256(long)}`)).not.toBe(idFor(long));
});

test('fits into what a workflow id may be', () => {
  fc.assert(fc.property(keys, (key) => idFor(key, 'p'.repeat(64)).length <= 255));
});
