import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DockerError } from '../../../../systems/docker/docker-error.ts';
import { useDatabase } from '../../../support/use-database.ts';
import { createSupervisorFixture, follow } from './supervisor-fixture.ts';

const database = useDatabase();

test('a run from start to end has its frames and files, and leaves nothing behind', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process();
  const ref = await fixture.run([
    { say: 'Grüße' },
    { write: { path: 'notes/hello.txt', content: 'hello' } },
    { result: { result: 'done' } },
  ]);
  expect(await supervisor.start(ref)).toBe('started');
  expect(await supervisor.start(ref)).toBe('started');
  expect(supervisor.live()).toEqual([ref]);
  expect(await follow(supervisor, ref)).toEqual({ cause: 'completed', detail: null, exitCode: 0 });
  expect(supervisor.live()).toEqual([]);
  expect(await supervisor.snapshot(ref)).toEqual({ files: 1, skipped: 0 });
  await supervisor.remove(ref, { keepFolders: false });
  await supervisor.remove(ref, { keepFolders: false });

  const run = await fixture.find(ref);
  expect(run).toMatchObject({ agentStatus: 'idle', result: 'done', endCause: 'completed' });
  const log = await fixture.log(ref);
  expect(log[0]).toMatchObject({ seq: 1, event: 'agent_status', data: '{"status":"idle"}' });
  expect(log.map(({ event }) => event)).toEqual(
    expect.arrayContaining(['system', 'assistant', 'result', 'output']),
  );
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  expect(fixture.published.flatMap(({ frames }) => frames)).toEqual(log);
  expect(fixture.trees.at(-1)).toContain('"path":"notes/hello.txt"');
  const [file] = await fixture.files.list(ref.runId, { limit: 10 });
  expect(file).toMatchObject({ path: 'notes/hello.txt', size: 5, scope: 'run' });
  expect(await fixture.sandboxes.list()).toEqual([]);
  expect(readdirSync(join(fixture.dataDir, 'r'))).toEqual([]);
  expect(readdirSync(join(fixture.dataDir, 's'))).toEqual([]);
});

test('a process that is killed leaves the sandbox running, and the next one continues from there', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const first = fixture.process();
  const ref = await fixture.run([
    { lines: 4_000, seed: 3, longEvery: 50 },
    { waitForFile: '/workspace/go' },
    { lines: 4_000, seed: 4, longEvery: 50 },
  ]);
  await first.start(ref);
  const lost = follow(first, ref);
  lost.catch(() => undefined);
  await expect.poll(async () => (await fixture.find(ref)).lastSeq).toBeGreaterThan(1_000);
  await first.close();
  await expect(lost).rejects.toThrow('shutting down');

  const second = fixture.process();
  await second.adoptExisting();
  expect(second.live()).toEqual([ref]);
  await fixture.touch(ref, 'go');
  expect(await follow(second, ref)).toMatchObject({ cause: 'completed', exitCode: 0 });
  const log = await fixture.log(ref);
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  expect(log.filter(({ event }) => event === 'assistant')).toHaveLength(8_000);
}, 90_000);

test.each([
  ['runtime_missing', 'the configured container runtime is not installed on this host'],
  ['runtime_unusable', 'the configured container runtime does not work on this host'],
] as const)('a host with %s starts no sandbox, and fails permanently', async (code, detail) => {
  const fixture = await createSupervisorFixture(database.pool);
  const ensureCreated = () => Promise.reject(new DockerError(code, 'docker: no runsc'));
  const supervisor = fixture.process({ sandboxes: { ...fixture.sandboxes, ensureCreated } });
  const ref = await fixture.run([{ say: 'never' }]);
  await expect(supervisor.start(ref)).rejects.toMatchObject({
    name: 'SandboxStartError',
    permanent: true,
    detail,
  });
  expect(supervisor.live()).toEqual([]);
});
