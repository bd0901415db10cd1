import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { createSealer } from '../../../systems/postgres/admission/seal.ts';
import { createRunStore } from '../../../systems/postgres/runs/run-store.ts';
import { type Service, type ServiceOptions, startService } from '../../support/service.ts';
import { stackEnv } from '../../support/stack-env.ts';
import {
  type Behaviour,
  startReceiver,
  type WebhookReceiver,
} from '../../support/webhook-receiver.ts';
import { checkLogPages } from '../check-log-pages.ts';
import { checkRun } from '../check-run.ts';
import { collectRecords, type RunRecords } from '../run-records.ts';
import { watchCauses } from './cause-watch.ts';
import { type ContainerWatch, watchContainers } from './container-watch.ts';
import { checkFlood, floodPrompt } from './flood.ts';
import { type Client, type ClientOptions, followRun } from './transcript.ts';

/** A service with all its observers. */
export interface FaultFixture {
  service: Service;
  receiver: WebhookReceiver;
  containers: ContainerWatch;
  /** A run with a webhook. */
  trigger(prompt: string): Promise<string>;
  follow(runId: string, options: ClientOptions): Client;
  /** The run of support/flood.ts, with a client that stays and one that keeps reconnecting. */
  startFlood(): Promise<Flood>;
  /** Waits until nothing more can happen to a run, then checks all its invariants. */
  expectInvariants(runId: string, options?: InvariantOptions): Promise<RunRecords>;
  stop(): Promise<void>;
}

interface Flood {
  runId: string;
  steadyClient: Client;
  reconnectingClient: Client;
  /**
   * Checks that both clients received the log, that its pages equal it, that the log equals the
   * agent's output, and that one post was made.
   */
  expectComplete(options?: InvariantOptions): Promise<RunRecords>;
}

export interface InvariantOptions {
  clients?: Client[];
  /** Time limit for everything: the run's end and what follows. */
  withinMs?: number;
  /** The engine was down, so its events are incomplete. */
  engineWasDown?: boolean;
  /** The receiver rejects its webhook. */
  isWebhookRejected?: boolean;
}

interface FaultFixtureOptions extends ServiceOptions {
  behave?: Behaviour;
}

const finalWithinMs = 60_000;
const disconnectEvery = 997;

export async function startFaultFixture(
  fixtureOptions: FaultFixtureOptions = {},
): Promise<FaultFixture> {
  const [service, receiver] = await Promise.all([
    startService(fixtureOptions),
    startReceiver(fixtureOptions.behave),
  ]);
  const dockerHost = fixtureOptions.on?.dockerHost ?? stackEnv.dockerHost;
  const temporalAddress = fixtureOptions.on?.temporalAddress ?? stackEnv.temporalAddress;
  await watchCauses(service.database.pool);
  const containers = await watchContainers(service, dockerHost);

  const follow = (runId: string, clientOptions: ClientOptions): Client =>
    followRun(service, runId, clientOptions);

  async function trigger(prompt: string): Promise<string> {
    const { runId } = await service.trigger({ prompt, callbackUrl: `${receiver.url}/hook` });
    return runId;
  }

  function collect(
    runId: string,
    { clients = [], engineWasDown = false, ...rest }: InvariantOptions,
  ) {
    const transcripts = clients.map(({ transcript }) => transcript);
    const history = engineWasDown ? {} : { containers: containers.of(runId) };
    const { isWebhookRejected = false } = rest;
    const sources = {
      transcripts,
      posts: receiver.posts,
      isWebhookRejected,
      temporalAddress,
      ...history,
    };
    return collectRecords(service, runId, sources);
  }

  /** Repeats the queries until they succeed and every invariant holds. The last result counts. */
  async function expectInvariants(
    runId: string,
    options: InvariantOptions = {},
  ): Promise<RunRecords> {
    const end = performance.now() + (options.withinMs ?? finalWithinMs);
    await untilFinal(service, runId, end - performance.now());
    for (;;) {
      const isLast = performance.now() > end;
      const records = await collect(runId, options).catch((error: unknown) => {
        if (isLast) throw error;
      });
      const violations = records && checkRun(records);
      if (records && violations?.length === 0) return records;
      if (isLast) expect(violations).toEqual([]);
      await sleep(500);
    }
  }

  async function startFlood(): Promise<Flood> {
    const runId = await trigger(floodPrompt());
    const steadyClient = follow(runId, { name: 'steady client' });
    const reconnectingClient = follow(runId, { name: 'reconnecting client', disconnectEvery });
    return {
      runId,
      steadyClient,
      reconnectingClient,
      async expectComplete(options = {}) {
        const clients = [steadyClient, reconnectingClient];
        await untilFinal(service, runId, 240_000);
        await Promise.all(clients.map((client) => client.untilFinished(60_000)));
        const records = await expectInvariants(runId, { ...options, clients });
        expect(checkFlood(records.log)).toEqual([]);
        expect(await checkLogPages(service, runId, records.log)).toEqual([]);
        expect(records.run).toMatchObject({ endCause: 'completed', exitCode: 0 });
        expect(records.posts).toHaveLength(1);
        return records;
      },
    };
  }

  return {
    service,
    receiver,
    containers,
    trigger,
    follow,
    startFlood,
    expectInvariants,
    async stop() {
      containers.close();
      await Promise.all([service.stop(), receiver.close()]);
    },
  };
}

async function untilFinal(service: Service, runId: string, withinMs: number): Promise<void> {
  const runs = createRunStore(service.database.pool, createSealer(service.encryptionKey));
  const end = performance.now() + withinMs;
  for (;;) {
    const run = await runs.find(runId);
    const isPending = ['waiting', 'pending'].includes(run?.webhook.state ?? '');
    if (run !== null && run.endedAt !== null && !isPending) return;
    if (performance.now() > end) {
      throw new Error(`not settled in time: ${JSON.stringify(run)}`);
    }
    await sleep(200);
  }
}
