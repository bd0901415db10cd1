import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { armFailpoint, failpoint, failpoints } from '../../../core/failpoint.ts';
import { repository } from '../../../dev/lib/folders.ts';

const folder = join(repository, 'test/faults');

/** The failpoints that all fault tests use. */
function prefixesTried(): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.fault.ts'));
  const texts = files.map((name) => readFileSync(`${folder}/${name}`, 'utf8'));
  const calls = texts.flatMap((text) => [...text.matchAll(/\bfailpointsOf\(([^)]*)\)/g)]);
  return calls.flatMap(([, words = '']) => words.match(/\w+/g) ?? []);
}

describe('a failpoint', () => {
  it('every failpoint is used by a fault test', () => {
    const prefixes = failpoints.map((name) => name.replace(/\..*/, ''));
    expect([...new Set(prefixesTried())].sort()).toEqual([...new Set(prefixes)].sort());
  });

  it('only the armed failpoint has an effect', () => {
    for (const name of failpoints) failpoint(name);
    const reached: string[] = [];
    armFailpoint('chat.stored', () => reached.push('chat.stored'));
    for (const name of failpoints) failpoint(name);
    expect(reached).toEqual(['chat.stored']);
  });
});
