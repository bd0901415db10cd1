// The entry program's life: listen for the agent, fetch the configuration, start the agent, feed it
// until it ends, report its end, end likewise. Two things may cut that short: a signal from Docker,
// which goes to the agent where there is one, and a host that has been silent past the deadline.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Agent, type AgentEnd, startAgent } from './agent.ts';
import { exitCodes, type Paths, type Timeouts } from './constants.ts';
import { untilHostIsLost } from './deadline.ts';
import { feedAgent } from './feed-agent.ts';
import { fetchConfig } from './fetch-config.ts';
import { listenForAgent } from './forward.ts';
import { createHost, type Host } from './host-client.ts';
import { note } from './stderr-note.ts';

export interface Entry {
  terminate(signal: NodeJS.Signals): void;
  /** The exit code of the program: the agent's wherever there is one. */
  ended: Promise<number>;
}

interface Life {
  paths: Paths;
  timeouts: Timeouts;
  host: Host;
  stop: AbortController;
  agent: Agent | null;
}

export function startEntry({ paths, timeouts }: { paths: Paths; timeouts: Timeouts }): Entry {
  const host = createHost(paths.socket, timeouts);
  const life: Life = { paths, timeouts, host, stop: new AbortController(), agent: null };
  return {
    terminate: (signal) => (life.agent === null ? life.stop.abort() : life.agent.kill(signal)),
    ended: live(life),
  };
}

async function live(life: Life): Promise<number> {
  const { paths, timeouts, host, stop } = life;
  const forward = await listenForAgent(paths.proxyPort, { socketPath: paths.socket, timeouts });
  const over = new AbortController();
  try {
    return await Promise.race([
      serve(life),
      untilHostIsLost(host, timeouts, over.signal).then(() => giveUp(life)),
    ]);
  } catch (error) {
    if (stop.signal.aborted) return exitCodes.terminated;
    throw error;
  } finally {
    over.abort();
    stop.abort();
    forward.close();
  }
}

async function serve(life: Life): Promise<number> {
  const config = await fetchConfig(life.host, life.stop.signal);
  if (config === null) {
    note(life.paths.stderrFile, 'the configuration was taken before');
    return exitCodes.configConsumed;
  }
  life.agent = startAgent(config, life.paths);
  const end = await attend(life.agent, life);
  life.agent = null;
  await report(end, life);
  return end.code;
}

/** Feeds the agent, and goes on asking for signs of life, for as long as it runs. */
async function attend(agent: Agent, { host, timeouts, paths }: Life): Promise<AgentEnd> {
  const gone = new AbortController();
  const ended = agent.ended.catch((error: unknown): AgentEnd => {
    note(paths.stderrFile, `the agent could not be started: ${String(error)}`);
    return { code: exitCodes.agentNotStarted, signal: null };
  });
  try {
    return await Promise.race([ended, feed(agent, { host, timeouts, signal: gone.signal })]);
  } finally {
    gone.abort();
  }
}

async function feed(
  { stdin }: Agent,
  { host, timeouts, signal }: { host: Host; timeouts: Timeouts; signal: AbortSignal },
): Promise<never> {
  await feedAgent(host, { stdin, timeouts, signal });
  for (;;) {
    await sleep(timeouts.keepAliveMs, null, { signal });
    await host.isAlive(timeouts.finalProbeMs);
  }
}

/** The container's own exit code says the same; this one is for when nobody can ask Docker. */
async function report(end: AgentEnd, { host, stop }: Life): Promise<void> {
  const call = { method: 'POST', path: '/control/exit', body: JSON.stringify(end) } as const;
  await host.requestWithRetry(call, stop.signal).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
}

async function giveUp({ agent, paths, timeouts }: Life): Promise<number> {
  note(paths.stderrFile, 'the host is lost: no answer until the deadline');
  if (agent !== null) {
    const patience = new AbortController();
    agent.kill('SIGTERM');
    await Promise.race([
      agent.ended,
      sleep(timeouts.killGraceMs, null, { signal: patience.signal }),
    ]);
    patience.abort();
    agent.kill('SIGKILL');
  }
  return exitCodes.hostLost;
}
