// A run's configuration is delivered from the database to its agent, once, and to no other place.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { emptyRunConfig } from '../../../../core/runs/run-config.ts';
import { createRunConfigStore } from '../../../../systems/postgres/admission/run-config-store.ts';
import { foldersOf } from '../../../../worker/sandbox/sandbox-paths.ts';
import { testSealer } from '../../../support/database.ts';
import { script } from '../../../support/prompts.ts';
import { callSocket } from '../../../support/socket-client.ts';
import { stackEnv } from '../../../support/stack-env.ts';
import { useDatabase } from '../../../support/use-database.ts';
import { createSupervisorFixture, follow } from './supervisor-fixture.ts';

const database = useDatabase();

const config = {
  ...emptyRunConfig,
  env: { RUN_TOKEN: 'canary-env' },
  appendSystemPrompt: 'canary-system-prompt',
  context: { Team: 'canary-context' },
  mcpServers: {
    tools: {
      type: 'http' as const,
      url: 'https://mcp.test/canary-path',
      headers: { authorization: 'canary-header' },
    },
  },
};
const secrets = {
  env: { FLOW_TOKEN: 'canary-flow' },
  mcpServers: { own: { type: 'http' as const, url: 'https://flow-mcp.test/' } },
};

test('the agent receives all of it, and none of it stays on disk, in the engine or in the log', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process();
  const prompt = `canary-prompt ${script([
    ...['RUN_TOKEN', 'FLOW_TOKEN', 'FLOW_CTX_TEAM', 'ANTHROPIC_API_KEY'].map((env) => ({ env })),
    { systemPrompt: true },
    { mcpServers: true },
    { connectProxy: 'mcp.test:443' },
    { connectProxy: 'other.test:443' },
    { http: { url: 'http://localhost/control/config', socketPath: '/run/egress/x' } },
    { hang: true },
  ])}`;
  const ref = await fixture.run([], { prompt, config }, { secrets });
  await supervisor.start(ref);
  const logText = async () => JSON.stringify(await fixture.log(ref));
  await expect.poll(logText, { timeout: 30_000 }).toContain('⎿ 410');
  const text = await logText();
  for (const canary of ['env', 'flow', 'context', 'system-prompt', 'header', 'path']) {
    expect(text).toContain(`canary-${canary}`);
  }
  expect(text).toContain('ANTHROPIC_API_KEY=sandbox');
  expect(text).not.toContain('operator-key');

  const [container] = await fixture.sandboxes.list();
  const inspected = await run('docker', ['inspect', container?.containerId ?? '']);
  expect(inspected).not.toMatch(/canary|operator-key/);
  // The agent's own output and transcript are exempt.
  const { root, spool, config: transcripts } = foldersOf(fixture.dataDir, ref);
  const found = (await run('grep', ['-rlE', 'canary|operator-key', root])).trim().split('\n');
  const byOthers = found.filter((path) => !path.startsWith(spool) && !path.startsWith(transcripts));
  expect(byOthers).toEqual([]);
  expect(fixture.logged.join('')).not.toMatch(/canary|operator-key/);
  expect(await createRunConfigStore(database.pool, testSealer).read(ref)).toBeNull();
});

test('the network of a run is that of its flow and of the run’s servers, also after a restart', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const first = fixture.process();
  const ref = await fixture.run(
    [
      { waitForFile: '/workspace/go' },
      { connectProxy: 'mcp.test:443' },
      { connectProxy: 'flow-mcp.test:443' },
      { connectProxy: 'allowed.test:443' },
      { connectProxy: 'other.test:443' },
    ],
    { config },
    { secrets, network: { policy: 'limited', allowedHosts: ['allowed.test'] } },
  );
  await first.start(ref);
  await expect
    .poll(async () => (await fixture.find(ref)).agentStatus, { timeout: 30_000 })
    .toBe('working');
  await first.close();

  const lookups: string[] = [];
  const second = fixture.process(
    {},
    // No name resolves here; only permitted names are looked up.
    { lookup: async (host) => (lookups.push(host), []) },
  );
  await second.adoptExisting();
  await fixture.touch(ref, 'go');
  await follow(second, ref);
  expect(lookups).toEqual(['mcp.test', 'flow-mcp.test', 'allowed.test']);
  expect(fixture.logged.join('')).toContain('"host":"other.test","port":443,"reason":"policy"');
});

test('the socket is closed when the run has ended', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process();
  const ref = await fixture.run([]);
  await supervisor.start(ref);
  await follow(supervisor, ref);
  const { socketFile } = foldersOf(fixture.dataDir, ref);
  await expect(callSocket(socketFile, { path: '/control/config' })).rejects.toThrow();
});

async function run(command: string, args: string[]): Promise<string> {
  const env = { ...process.env, DOCKER_HOST: stackEnv.dockerHost };
  const done = await promisify(execFile)(command, args, { env, maxBuffer: 64 * 1024 ** 2 });
  return done.stdout;
}
