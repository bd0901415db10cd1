import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { labelNames } from '../../../systems/docker/labels.ts';
import type { Service } from '../../support/service.ts';

/** How often each event occurred for the containers of a run. */
export interface ContainerHistory {
  created: number;
  started: number;
  removed: number;
}

export interface ContainerWatch {
  of(runId: string): ContainerHistory;
  /** The most containers that ran at the same time. */
  mostRunning(): number;
  close(): void;
}

const counted = { create: 'created', start: 'started', destroy: 'removed' } as const;

interface EngineEvent {
  Action: string;
  Actor: { ID: string; Attributes: Record<string, string> };
}

/** Subscribes to the engine's events of a service's containers. */
export async function watchContainers(
  service: Service,
  dockerHost: string,
): Promise<ContainerWatch> {
  const stream = await openEvents(dockerHost, service.instance);
  const histories = new Map<string, ContainerHistory>();
  const alive = new Set<string>();
  let most = 0;

  function record({ Action, Actor }: EngineEvent): void {
    if (Action === 'start') alive.add(Actor.ID);
    if (Action === 'die') alive.delete(Actor.ID);
    most = Math.max(most, alive.size);
    const runId = Actor.Attributes[labelNames.run] ?? '';
    const history = histories.get(runId) ?? { created: 0, started: 0, removed: 0 };
    histories.set(runId, history);
    if (Action in counted) history[counted[Action as keyof typeof counted]] += 1;
  }

  const lines = createInterface({ input: stream });
  lines.on('line', (line) => record(JSON.parse(line) as EngineEvent));
  for (const source of [stream, lines]) source.on('error', () => undefined); // the engine was killed
  return {
    of: (runId) => histories.get(runId) ?? { created: 0, started: 0, removed: 0 },
    mostRunning: () => most,
    close: () => void stream.destroy(),
  };
}

/** Resolves when the subscription is active. */
function openEvents(dockerHost: string, instance: string): Promise<IncomingMessage> {
  const label = [`${labelNames.instance}=${instance}`];
  const filters = { type: ['container'], label, event: [...Object.keys(counted), 'die'] };
  const path = `/events?filters=${encodeURIComponent(JSON.stringify(filters))}`;
  return new Promise((resolve, reject) => {
    request({ socketPath: dockerHost.replace(/^unix:\/\//, ''), path }, resolve)
      .on('error', reject)
      .end();
  });
}
