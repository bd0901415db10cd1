import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { onTestFinished } from 'vitest';
import type { Delta, StoredFrame } from '../../../../core/frames/frame.ts';
import type { RunEnd } from '../../../../core/runs/end-cause.ts';
import type { Run } from '../../../../core/runs/run.ts';
import { openDocker } from '../../../../systems/docker/open-docker.ts';
import type { Sandboxes } from '../../../../systems/docker/sandboxes.ts';
import { createFlowStore, type NewFlow } from '../../../../systems/postgres/accounts/flow-store.ts';
import { createProjectStore } from '../../../../systems/postgres/accounts/project-store.ts';
import type { AdmitRun } from '../../../../systems/postgres/admission/admit-run.ts';
import { createRunConfigStore } from '../../../../systems/postgres/admission/run-config-store.ts';
import type { Pool } from '../../../../systems/postgres/client/pool.ts';
import { createBlobStore } from '../../../../systems/postgres/files/blob-store.ts';
import { createFileStore } from '../../../../systems/postgres/files/file-store.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import { createInteractionStore } from '../../../../systems/postgres/runs/interaction-store.ts';
import { createLedgerStore } from '../../../../systems/postgres/runs/ledger-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createSessionStore } from '../../../../systems/postgres/sessions/session-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { createEgress, type EgressDeps } from '../../../../worker/egress/run-listener.ts';
import { createProjectQuotas } from '../../../../worker/host/quota/project-quotas.ts';
import { noopMetrics, sandboxObserver } from '../../../../worker/instrumentation.ts';
import { createRunLogContext } from '../../../../worker/run-log-context.ts';
import type { SupervisorDeps } from '../../../../worker/sandbox/deps.ts';
import { foldersOf } from '../../../../worker/sandbox/sandbox-paths.ts';
import { createSupervisor, type Supervisor } from '../../../../worker/sandbox/supervisor.ts';
import type { SandboxRef } from '../../../../workflows/shared/activities.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { script } from '../../../support/prompts.ts';
import { stackEnv } from '../../../support/stack-env.ts';

/** A host with the real engine, database and scripted agent. Its process can be restarted. */
export interface SupervisorFixture {
  hostId: string;
  dataDir: string;
  sandboxes: Sandboxes;
  runs: ReturnType<typeof createRunStore>;
  files: ReturnType<typeof createFileStore>;
  blobs: ReturnType<typeof createBlobStore>;
  published: { frames: StoredFrame[]; deltas: Delta[] }[];
  trees: string[];
  logged: string[];
  /** A run whose agent executes these steps. */
  run(steps: object[], given?: Partial<AdmitRun>, flow?: Partial<NewFlow>): Promise<SandboxRef>;
  /** A process of this host; earlier ones keep running unless they were closed. */
  process(given?: Partial<SupervisorDeps>, egress?: Partial<EgressDeps>): Supervisor;
  find(ref: SandboxRef): Promise<Run>;
  log(ref: SandboxRef): Promise<StoredFrame[]>;
  /** The host's path of the sandbox's working directory. */
  workspace(ref: SandboxRef): string;
  /** Creates a file there, for an agent that waits for it. */
  touch(ref: SandboxRef, name: string): Promise<void>;
}

export const follow = (supervisor: Supervisor, ref: SandboxRef): Promise<RunEnd> =>
  supervisor.follow(ref, new AbortController().signal);

/** Its data folder is created in `parent`. */
export async function createSupervisorFixture(
  pool: Pool,
  parent: string = stackEnv.dataDir,
): Promise<SupervisorFixture> {
  const instance = `t${randomBytes(4).toString('hex')}`;
  const { dockerHost, sandboxRuntime: runtime } = stackEnv;
  const sandboxes = openDocker({ dockerHost, instance, runtime }).sandboxes;
  await mkdir(parent, { recursive: true });
  const dataDir = await mkdtemp(join(parent, 'v-'));
  const hostId = `host-${randomUUID()}`;
  const stores = {
    runs: createRunStore(pool, testSealer),
    configs: createRunConfigStore(pool, testSealer),
    frames: createFrameStore(pool),
    flows: createFlowStore(pool, testSealer),
    sessions: createSessionStore(pool, testSealer),
    turns: createTurnStore(pool),
    projects: createProjectStore(pool, testSealer),
    ledger: createLedgerStore(pool),
    interactions: createInteractionStore(pool),
    files: createFileStore(pool),
    blobs: createBlobStore(pool),
  };
  const published: SupervisorFixture['published'] = [];
  const trees: string[] = [];
  const logged: string[] = [];
  const supervisors: Supervisor[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });

  function process(
    given: Partial<SupervisorDeps> = {},
    egress: Partial<EgressDeps> = {},
  ): Supervisor {
    const supervisor = createSupervisor({
      hostId,
      hostModel: 'key',
      dataDir,
      diskReserve: { bytes: 1, inodes: 1 },
      projectQuotas: createProjectQuotas({ dataDir, logger }),
      image: stackEnv.scriptedImage,
      sandboxes,
      ...stores,
      frameStream: {
        publish: async (_runId, batch) => {
          published.push(batch);
          return 'buffered';
        },
        publishFileTree: async (_runId, json) => trees.push(json) > 0,
        expire: async () => true,
        notify: async () => true,
      },
      notifications: { subscribeBestEffort: () => () => undefined },
      mayActOnHints: () => true,
      isFenced: () => false,
      egress: createEgress({
        modelUpstream: { apiKey: 'operator-key', baseUrl: 'http://127.0.0.1:9' },
        apiUrl: 'http://127.0.0.1:9',
        allowPrivate: [],
        lookup: () => Promise.resolve([]),
        connect: () => Promise.reject(new Error('no connections in this test')),
        ...egress,
      }),
      modelPrices: {},
      cpus: 100,
      cpuPressure: () => null,
      ...sandboxObserver({ metrics: noopMetrics }, {}),
      times: { stallTimeoutMs: 60_000, afterResultGraceMs: 15_000, leaseMs: 15_000 },
      logger,
      runLogContext: createRunLogContext(stores.runs),
      now: () => new Date(),
      newId: randomUUID,
      createAgentToken: () => 'fra_test',
      ...given,
    });
    supervisors.push(supervisor);
    return supervisor;
  }

  async function run(
    steps: object[],
    given: Partial<AdmitRun> = {},
    flow: Partial<NewFlow> = {},
  ): Promise<SandboxRef> {
    const hosts = createHostStore(pool);
    await hosts.renew({ hostId, name: 'test', capacity: 1_000 });
    const scenario = await createScenario(pool, testSealer, { flow: { runner: hostId, ...flow } });
    const prompt = script(steps);
    const { runId, generation } = await scenario.run({ prompt, ...given });
    return { runId, generation };
  }

  async function find({ runId }: SandboxRef): Promise<Run> {
    const found = await stores.runs.find(runId);
    if (found === null) throw new Error('no such run');
    return found;
  }

  async function log({ runId }: SandboxRef): Promise<StoredFrame[]> {
    const frames: StoredFrame[] = [];
    for (;;) {
      const afterSeq = frames.at(-1)?.seq ?? 0;
      const page = await stores.frames.read(runId, { order: 'asc', afterSeq, limit: 5_000 });
      if (page.length === 0) return frames;
      frames.push(...page);
    }
  }

  onTestFinished(async () => {
    await Promise.all(supervisors.map((supervisor) => supervisor.close()));
    for (const { containerId } of await sandboxes.list()) await sandboxes.remove(containerId);
    await rm(dataDir, { recursive: true, force: true });
  });
  const { runs, files, blobs } = stores;
  const workspace = (ref: SandboxRef): string => foldersOf(dataDir, ref).workspace;
  const touch = (ref: SandboxRef, name: string): Promise<void> =>
    writeFile(join(workspace(ref), name), '');
  const seen = { published, trees, logged, workspace, touch };
  return { hostId, dataDir, sandboxes, runs, files, blobs, ...seen, run, process, find, log };
}
