import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './control-tree.ts';

const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { version?: string; resolved?: string }>;
};

/** Every copy of a package that an installation holds. */
function copiesOf(name: string): string[] {
  const copies = Object.keys(lock.packages).filter((path) => path.endsWith(`node_modules/${name}`));
  return copies.map((path) => lock.packages[path]?.version ?? '');
}

describe('the lock file', () => {
  test('holds one protobufjs 8, for all to share: with two, no history is read from JSON', () => {
    expect(lock.packages['node_modules/protobufjs']?.version).toMatch(/^8\./);
    expect(copiesOf('protobufjs').filter((version) => version.startsWith('8.'))).toHaveLength(1);
  });

  test('holds one version of Temporal’s packages', () => {
    const paths = Object.keys(lock.packages).filter((path) => path.includes('/@temporalio/'));
    const versions = new Set(paths.map((path) => lock.packages[path]?.version));
    expect(paths.length).toBeGreaterThan(5);
    expect([...versions]).toHaveLength(1);
  });

  test('names no registry, so that every installation uses its own', () => {
    const resolved = Object.values(lock.packages).flatMap((entry) => entry.resolved ?? []);
    expect(resolved).toEqual([]);
  });
});

test('every direct dependency is one exact version', () => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
  for (const version of Object.values({ ...dependencies, ...devDependencies })) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  }
});
