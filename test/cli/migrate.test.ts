import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CliWorld, openCliWorld } from './cli-world.ts';
import type { Cli } from './run-cli.ts';

let world: CliWorld;
let flowrun: Cli;
beforeAll(async () => {
  world = await openCliWorld();
  ({ flowrun } = world);
});
afterAll(() => world.close());

test('migrating what is migrated changes nothing', async () => {
  expect(await flowrun('migrate')).toEqual({
    code: 0,
    out: 'The schema is up to date.\n',
    err: '',
  });
});
