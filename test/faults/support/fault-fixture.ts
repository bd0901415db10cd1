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
import { checkRun } from '../check.ts';
import { checkReadLog } from '../check-read-log.ts';
import { type Evidence, gatherEvidence } from '../evidence.ts';
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
  expectInvariants(runId: string, about?: About): Promise<Evidence>;
  stop(): Promise<void>;
}

interface Flood {
  runId: string;
  stays: Client;
  comesAndGoes: Client;
  /**
   * Checks that both clients received the log, that its pages equal it, that the log equals the agent's
   * output, and that one post was made.
   */
  expectWhole(about?: About): Promise<Evidence>;
}

export interface About {
  clients?: Client[];
  /** Time limit for everything: the run's end and what follows. */
  withinMs?: number;
  /** The engine was down, so its events are incomplete. */
  engineWasAway?: boolean;
  /** The receiver rejects its webhook. */
  isRefused?: boolean;
}

interface FaultFixtureOptions extends ServiceOptions {
  behave?: Behaviour;
}

const settledWithinMs = 60_000;
const hangUpEvery = 997;

export async function startFaultFixture(options: FaultFixtureOptions = {}): Promise<FaultFixture> {
  const [service, receiver] = await Promise.all([
    startService(options),
    startReceiver(options.behave),
  ]);
  const dockerHost = options.on?.dockerHost ?? stackEnv.dockerHost;
  const temporalAddress = options.on?.temporalAddress ?? stackEnv.temporalAddress;
  await watchCauses(service.database.pool);
  const containers = await watchContainers(service, dockerHost);

  const follow = (runId: string, how: ClientOptions): Client => followRun(service, runId, how);

  async function trigger(prompt: string): Promise<string> {
    const { runId } = await service.trigger({ prompt, callbackUrl: `${receiver.url}/hook` });
    return runId;
  }

  function gather(runId: string, { clients = [], engineWasAway = false, ...rest }: About) {
    const transcripts = clients.map(({ transcript }) => transcript);
    const history = engineWasAway ? {} : { containers: containers.of(runId) };
    const { isRefused = false } = rest;
    const witnesses = {
      transcripts,
      posts: receiver.posts,
      isRefused,
      temporalAddress,
      ...history,
    };
    return gatherEvidence(service, runId, witnesses);
  }

  /** Repeats the queries until they succeed and every invariant holds. The last result counts. */
  async function expectInvariants(runId: string, about: About = {}): Promise<Evidence> {
    const end = performance.now() + (about.withinMs ?? settledWithinMs);
    await untilSettled(service, runId, end - performance.now());
    for (;;) {
      const isLast = performance.now() > end;
      const evidence = await gather(runId, about).catch((error: unknown) => {
        if (isLast) throw error;
      });
      const wrong = evidence && checkRun(evidence);
      if (evidence && wrong?.length === 0) return evidence;
      if (isLast) expect(wrong).toEqual([]);
      await sleep(500);
    }
  }

  async function startFlood(): Promise<Flood> {
    const runId = await trigger(floodPrompt());
    const stays = follow(runId, { name: 'who stays' });
    const comesAndGoes = follow(runId, { name: 'who comes and goes', hangUpEvery });
    return {
      runId,
      stays,
      comesAndGoes,
      async expectWhole(about = {}) {
        const clients = [stays, comesAndGoes];
        await untilSettled(service, runId, 240_000);
        await Promise.all(clients.map((client) => client.seenEnd(60_000)));
        const evidence = await expectInvariants(runId, { ...about, clients });
        expect(checkFlood(evidence.log)).toEqual([]);
        expect(await checkReadLog(service, runId, evidence.log)).toEqual([]);
        expect(evidence.run).toMatchObject({ endCause: 'completed', exitCode: 0 });
        expect(evidence.posts).toHaveLength(1);
        return evidence;
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

async function untilSettled(service: Service, runId: string, withinMs: number): Promise<void> {
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
