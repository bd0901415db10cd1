// The entry program: opens the agent's proxy port, fetches the configuration, starts the agent,
// feeds it until it exits, reports the exit, and exits with the same code. A signal from Docker is
// passed on to the agent if there is one. A host that does not respond until the deadline ends the
// sandbox.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Agent, type AgentEnd, startAgent } from './agent.ts';
import { exitCodes, type Paths, type Timeouts } from './constants.ts';
import { untilHostIsLost } from './deadline.ts';
import { feedAgent } from './feed-agent.ts';
import { fetchConfig } from './fetch-config.ts';
import { listenForAgent } from './forward.ts';
import { createHostClient, type HostClient } from './host-client.ts';
import { note } from './stderr-note.ts';

export interface Entry {
  terminate(signal: NodeJS.Signals): void;
  /** The exit code of the program: the agent's, if it was started. */
  ended: Promise<number>;
}

interface EntryState {
  paths: Paths;
  timeouts: Timeouts;
  host: HostClient;
  stop: AbortController;
  agent: Agent | null;
}

export function startEntry({ paths, timeouts }: { paths: Paths; timeouts: Timeouts }): Entry {
  const host = createHostClient(paths.socket, timeouts);
  const state: EntryState = { paths, timeouts, host, stop: new AbortController(), agent: null };
  return {
    terminate: (signal) => (state.agent === null ? state.stop.abort() : state.agent.kill(signal)),
    ended: runEntry(state),
  };
}

async function runEntry(state: EntryState): Promise<number> {
  const { paths, timeouts, host, stop } = state;
  const forward = await listenForAgent(paths.proxyPort, { socketPath: paths.socket, timeouts });
  const done = new AbortController();
  try {
    return await Promise.race([
      runAgent(state),
      untilHostIsLost(host, timeouts, done.signal).then(() => killAgent(state)),
    ]);
  } catch (error) {
    if (stop.signal.aborted) return exitCodes.terminated;
    throw error;
  } finally {
    done.abort();
    stop.abort();
    forward.close();
  }
}

async function runAgent(state: EntryState): Promise<number> {
  const config = await fetchConfig(state.host, state.stop.signal);
  if (config === null) {
    note(
      state.paths.stderrFile,
      'the configuration was already fetched, or a later sandbox has replaced this one',
    );
    return exitCodes.configConsumed;
  }
  state.agent = startAgent(config, state.paths);
  const end = await superviseAgent(state.agent, state);
  state.agent = null;
  await reportExit(end, state);
  return end.code;
}

/** Feeds the agent and probes the host until the agent exits. */
async function superviseAgent(
  agent: Agent,
  { host, timeouts, paths }: EntryState,
): Promise<AgentEnd> {
  const exited = new AbortController();
  const ended = agent.ended.catch((error: unknown): AgentEnd => {
    note(paths.stderrFile, `the agent could not be started: ${String(error)}`);
    return { code: exitCodes.agentNotStarted, signal: null };
  });
  try {
    return await Promise.race([ended, feed(agent, { host, timeouts, signal: exited.signal })]);
  } finally {
    exited.abort();
  }
}

async function feed(
  { stdin }: Agent,
  { host, timeouts, signal }: { host: HostClient; timeouts: Timeouts; signal: AbortSignal },
): Promise<never> {
  await feedAgent(host, { stdin, timeouts, signal });
  for (;;) {
    await sleep(timeouts.keepAliveMs, null, { signal });
    await host.isAlive(timeouts.finalProbeMs);
  }
}

/** Docker reports the same exit code; this report is for a host that cannot query Docker. */
async function reportExit(end: AgentEnd, { host, stop }: EntryState): Promise<void> {
  const call = { method: 'POST', path: '/control/exit', body: JSON.stringify(end) } as const;
  await host.requestWithRetry(call, stop.signal).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
}

async function killAgent({ agent, paths, timeouts }: EntryState): Promise<number> {
  note(paths.stderrFile, 'the host is lost: no response until the deadline');
  if (agent !== null) {
    const grace = new AbortController();
    agent.kill('SIGTERM');
    await Promise.race([agent.ended, sleep(timeouts.killGraceMs, null, { signal: grace.signal })]);
    grace.abort();
    agent.kill('SIGKILL');
  }
  return exitCodes.hostLost;
}
