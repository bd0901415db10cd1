import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';

const modules = join(repository, 'node_modules');

it('has exactly one protobufjs 8, or histories cannot be read', () => {
  const found = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|\/)protobufjs\/package\.json$/.test(path))
    .filter((path) => majorOf(path) === '8');
  expect(found).toEqual(['protobufjs/package.json']);
});

function majorOf(path: string): string | undefined {
  const manifest = readFileSync(join(modules, path), 'utf8');
  return /"version":\s*"(\d+)\./.exec(manifest)?.[1];
}
