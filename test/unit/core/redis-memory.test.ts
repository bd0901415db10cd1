import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { redisMaxMemory, redisMemoryFor } from '../../../core/redis-memory.ts';
import { repository } from '../../../dev/lib/folders.ts';

const miB = 1024 ** 2;

test('each slot needs memory for its run and the one before it', () => {
  expect(redisMemoryFor(0)).toBe(128 * miB);
  expect(redisMemoryFor(50)).toBe((128 + 50 * 24) * miB);
  expect(redisMaxMemory(50)).toBe('1328mb');
  expect(limits.redis.runMaxBytes).toBeGreaterThan(
    limits.replay.bufferBytes + limits.fileTree.maxBytes,
  );
});

test('compose limits Redis by the slots of its machine', () => {
  const run = (HOST_CAPACITY: string) => {
    const env = { ...process.env, HOST_CAPACITY };
    const program = join(repository, 'deploy/redis-memory.ts');
    return execFileSync(process.execPath, [program], { env, encoding: 'utf8', stdio: 'pipe' });
  };
  expect(run('0')).toBe('128mb\n');
  expect(run('50')).toBe('1328mb\n');
  expect(run('')).toMatch(/^\d+mb\n$/);
  expect(() => run('many')).toThrow('HOST_CAPACITY is wrong');
});
