import { expect, test } from 'vitest';
import { useCliFixture } from './cli-fixture.ts';

const { flowrun } = useCliFixture();

test('migrating a current schema changes nothing', async () => {
  expect(await flowrun('migrate')).toEqual({
    code: 0,
    out: 'The schema is up to date.\n',
    err: '',
  });
});
