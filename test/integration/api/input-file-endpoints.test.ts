// A flow's limits apply to every endpoint that accepts files, as they do to the trigger: files for
// an active run, for a sleeping session, and with a message.

import { beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import type { ApiProcess } from '../../support/api-fixture.ts';
import { type Answer, caller } from './call.ts';
import { fakeHostRpc } from './fake-host-rpc.ts';
import { useGivenFiles, utf8 } from './input-file-requests.ts';

const { fixture, tenant, storage } = useGivenFiles();
let api: ApiProcess;
beforeAll(async () => {
  api = await fixture.start({ hostRpc: fakeHostRpc() });
});

/** A way to upload files to an existing run or session. */
interface Endpoint {
  successStatus: number;
  open: () => Promise<(files: unknown[]) => Promise<Answer>>;
}

const call = (path: string, body: unknown) => caller(api, tenant.key)(path, { body });
const flowPath = () => `/api/v1/flows/${tenant.flowId}`;

const endpoints: Record<string, Endpoint> = {
  'an active run': {
    successStatus: 200,
    async open() {
      const { runId } = (await call(`${flowPath()}/runs`, { prompt: 'Go' })).json.data;
      await fixture.database.pool.query(
        `update runs set host_id = 'host-1', started_at = now() where id = $1`,
        [runId],
      );
      return (files) => call(`/api/v1/runs/${runId}/files`, { files });
    },
  },
  'a session that sleeps': {
    successStatus: 200,
    async open() {
      const { runId } = (await call(`${flowPath()}/sessions`, {})).json.data;
      return (files) => call(`/api/v1/runs/${runId}/files`, { files });
    },
  },
  'a message': {
    successStatus: 202,
    async open() {
      const { sessionId } = (await call(`${flowPath()}/sessions`, {})).json.data;
      return (files) => call(`${flowPath()}/chat`, { message: 'Look.', sessionId, files });
    },
  },
};

/** Everything stored for files of the flow, of its runs and of messages to it. */
async function stored(): Promise<unknown> {
  const { rows } = await fixture.database.pool.query(
    `select f.storage_bytes as bytes, f.file_count as count, f.files_version as version,
       (select count(*)::int from flow_files t where t.flow_id = f.id) as files,
       (select count(*)::int from input_files t join runs r on r.id = t.run_id
        where r.flow_id = f.id) as given,
       (select count(*)::int from session_messages t join runs r on r.id = t.run_id
        where r.flow_id = f.id) as messages
     from flows f where f.id = $1`,
    [tenant.flowId],
  );
  return rows[0];
}

const used = (bytes: number, files = 0) =>
  fixture.database.pool.query(
    'update flows set storage_bytes = $2, file_count = $3 where id = $1',
    [tenant.flowId, bytes, files],
  );

describe.each(Object.entries(endpoints))('by %s', (_name, { successStatus, open }) => {
  async function expectFull(give: () => Promise<Answer>, limit: number, current: number) {
    const before = await stored();
    const { status, json } = await give();
    expect([status, json.error]).toEqual([
      400,
      { code: 'VALIDATION_ERROR', limit, current, message: expect.stringContaining('body.files') },
    ]);
    expect(await stored()).toEqual(before);
  }

  test('limits a flow to 500 MiB', async () => {
    const give = await open();
    await give([utf8('.flowignore', '*.mine'), utf8('old', '12345')]);
    const limit = limits.flow.storageBytes;
    await used(limit - 7, 2);
    await expectFull(() => give([utf8('new', '12345678')]), limit, limit - 7);
    const fits = [utf8('new', '12345678'), utf8('old', '1234'), utf8('a.mine', 'x'.repeat(100))];
    expect((await give(fits)).status).toBe(successStatus);
    expect((await storage()).usedBytes).toBe(limit);
    await expectFull(() => give([utf8('new', '123456789')]), limit, limit);
    expect((await give([utf8('b.mine', 'x')])).status).toBe(successStatus);
  });

  test('limits a flow to 10 000 files', async () => {
    const give = await open();
    const limit = limits.flow.filesMax;
    await used(0, limit - 1);
    await expectFull(() => give([utf8('a', ''), utf8('b', '')]), limit, limit - 1);
    expect((await give([utf8('a', '')])).status).toBe(successStatus);
    await expectFull(() => give([utf8('b', '')]), limit, limit);
  });

  test('limits a request to a hundred files', async () => {
    const give = await open();
    const files = Array.from({ length: limits.file.perRequestMax + 1 }, (_, n) =>
      utf8(`f${n}`, ''),
    );
    const before = await stored();
    expect((await give(files)).json.error.message).toContain('body.files');
    expect(await stored()).toEqual(before);
    expect((await give(files.slice(1))).status).toBe(successStatus);
  });

  test('enforces the limits for concurrent requests', async () => {
    const gives = await Promise.all(Array.from({ length: 4 }, open));
    await used(limits.flow.storageBytes - 35);
    const given = gives.flatMap((give, n) =>
      Array.from({ length: 5 }, (_, k) => give([utf8(`f${n}-${k}`, '1234567890')])),
    );
    const answers = await Promise.all(given);
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 3 }, () => successStatus),
      ...Array.from({ length: 17 }, () => 400),
    ]);
    expect(await stored()).toMatchObject({
      ...{ bytes: limits.flow.storageBytes - 5, count: 3, files: 3 },
      messages: successStatus === 202 ? 3 : 0,
    });
  });
});
