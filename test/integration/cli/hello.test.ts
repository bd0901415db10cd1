// What the first run needs before it starts. The run itself is in the system tests.

import { expect, test } from 'vitest';
import { freePort } from '../../../dev/stack/ports.ts';
import { cliWith } from '../../support/run-cli.ts';
import { useCliFixture } from './cli-fixture.ts';

const { fixture, flowrun } = useCliFixture();

test('creates nothing while the API does not respond', async () => {
  const port = await freePort();
  const { code, out, err } = await cliWith({ ...fixture.env, API_PORT: `${port}` })('hello');
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain(`The API does not respond at http://127.0.0.1:${port}: `);
  expect(await flowrun.json('project', 'list')).toMatchObject([{ projectId: 'shop' }]);
  expect(await flowrun.json('operator', 'list')).toEqual([]);
});

test('says how to restore its project', async () => {
  await flowrun('project', 'create', 'hello');
  await flowrun('project', 'archive', 'hello');
  expect(await flowrun('hello')).toMatchObject({
    code: 1,
    err: 'The project hello is archived. To restore it: flowrun project restore hello\n',
  });
});
