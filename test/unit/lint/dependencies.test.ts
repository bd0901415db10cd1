import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';

const lock = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as {
  packages: Record<
    string,
    { version?: string; resolved?: string; engines?: Record<string, string> }
  >;
};

/** Every installed copy of a package in the lock file. */
function copiesOf(name: string): string[] {
  const copies = Object.keys(lock.packages).filter((path) => path.endsWith(`node_modules/${name}`));
  return copies.map((path) => lock.packages[path]?.version ?? '');
}

const placesIn = (version: string) => (version.match(/\d+/g) ?? []).map(Number).slice(0, 2);

/** Whether a range such as `18 || ^20.19.0 || >=22` includes this major and minor version. */
function takes(range: string, [major = 0, minor = 0]: number[]): boolean {
  return range.split('||').some((alternative) =>
    (alternative.match(/(?:>=|<|\^)?\s*[\dx*.]+/g) ?? []).every((part) => {
      const [wantedMajor = major, wantedMinor = 0] = placesIn(part);
      const isAtLeast = major * 1_000 + minor >= wantedMajor * 1_000 + wantedMinor;
      if (part.startsWith('<')) return !isAtLeast;
      return isAtLeast && (part.startsWith('>=') || major === wantedMajor);
    }),
  );
}

describe('the lock file', () => {
  test('has exactly one protobufjs 8, because with two no history can be read from JSON', () => {
    expect(lock.packages['node_modules/protobufjs']?.version).toMatch(/^8\./);
    expect(copiesOf('protobufjs').filter((version) => version.startsWith('8.'))).toHaveLength(1);
  });

  test('has one version of Temporal’s packages', () => {
    const paths = Object.keys(lock.packages).filter((path) => path.includes('/@temporalio/'));
    const versions = new Set(paths.map((path) => lock.packages[path]?.version));
    expect(paths.length).toBeGreaterThan(5);
    expect([...versions]).toHaveLength(1);
  });

  test('has no package that excludes the oldest supported Node', () => {
    const oldest = placesIn(lock.packages['']?.engines?.['node'] ?? '');
    expect(oldest).toEqual([22, 18]);
    const refusing = Object.entries(lock.packages).filter(
      ([, { engines = {} }]) => !takes(engines['node'] ?? '*', oldest),
    );
    expect(refusing.map(([path]) => path)).toEqual([]);
    expect(takes('>=24', oldest)).toBe(false);
  });

  test('contains no registry URL, so that every installation uses its own registry', () => {
    const resolved = Object.values(lock.packages).flatMap((entry) => entry.resolved ?? []);
    expect(resolved).toEqual([]);
  });
});

test('every direct dependency has one exact version', () => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(repository, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
  for (const version of Object.values({ ...dependencies, ...devDependencies })) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  }
});
