import { expect, test } from 'vitest';
import { useCliWorld } from './cli-fixture.ts';

const { flowrun } = useCliWorld();

test('migrating a current schema changes nothing', async () => {
  expect(await flowrun('migrate')).toEqual({
    code: 0,
    out: 'The schema is up to date.\n',
    err: '',
  });
});
