// Compares a warm turn of the service with one of a peer, which replaces the limit.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDaemon, stopDaemon } from '../../dev/stack/daemon.ts';
import { acceptsConnections, freePort } from '../../dev/stack/ports.ts';
import type { Sample, Scenario, Target } from '../measure/scenario.ts';
import { agentapi } from '../peers/agentapi.ts';
import { langgraph } from '../peers/langgraph.ts';
import { openhands } from '../peers/openhands.ts';
import { installPeer, type Peer, peerFolder, type Say, type TurnTimes } from '../peers/peer.ts';
import { type AgentWords, agentWords } from '../service/agent-words.ts';
import { type BenchService, startBenchService } from '../service/bench-service.ts';
import { type BenchSession, openSession } from '../service/session.ts';

const delayMs = 100;
/** The longest time between two polls of a peer's queue. */
const pollingMs = 500;

export const peers: readonly Scenario[] = [openhands, agentapi, langgraph].map((peer) => ({
  id: 'peers',
  targets: targetsOf(peer),
  iterations: 10,
  warmUps: 1,
  installPeer: () => installPeer(peer),
  async open() {
    const service = await startBenchService({ agent: 'real' });
    const session = await openSession(service);
    const { say, stop } = await startPeer(peer, service);
    return {
      ours: () => measure(peer, (words) => timeSession(session, words)),
      limit: () => measure(peer, say),
      async close() {
        session.close();
        await stop();
        await service.stop();
      },
    };
  },
}));

function targetsOf({ id, name }: Peer): Target[] {
  const against = `model ${delayMs} ms, against ${name}`;
  const common = { unit: 'ms', better: 'less', goal: 1 } as const;
  return [
    { id: `${id}-text`, title: `chat POST to the first text, ${against}`, ...common },
    { id: `${id}-accepted`, title: `chat POST to its answer, ${against}`, ...common },
  ];
}

async function startPeer(peer: Peer, { dataDir, modelUrl }: BenchService) {
  const folder = join(dataDir, 'peer');
  mkdirSync(folder);
  const port = await freePort();
  const installed = peerFolder(peer);
  const setup = { installed, dataDir: folder, modelUrl, port: String(port) };
  const { command, args, env } = peer.program(setup);
  const where = { logs: dataDir, pids: dataDir };
  await startDaemon(where, {
    ...{ name: 'peer', command, args, cwd: folder },
    env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8', ...env },
    ready: () => acceptsConnections(port),
  });
  const stop = () => stopDaemon(where, 'peer');
  const say = await peer.open(`http://127.0.0.1:${port}`, setup).catch(async (error) => {
    await stop();
    throw error;
  });
  return { say, stop };
}

/**
 * As in T5, the first message is not measured. The second is sent at a random time of the poll
 * interval.
 */
async function measure({ id }: Peer, say: Say): Promise<Sample> {
  await say(agentWords());
  await sleep(Math.random() * pollingMs);
  const { firstTextMs, acceptedMs } = await say(agentWords(delayMs));
  return { values: { [`${id}-text`]: firstTextMs, [`${id}-accepted`]: acceptedMs } };
}

async function timeSession({ say, stream }: BenchSession, words: AgentWords): Promise<TurnTimes> {
  const { postedAt, acceptedAt, from } = await say(words.prompt);
  const { at } = await stream.until(words.isTextEvent, from);
  return { acceptedMs: acceptedAt - postedAt, firstTextMs: at - postedAt };
}
