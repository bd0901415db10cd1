// The filter of the runs table is the query of the address, so that it can be shared.

/** Parameters of the API's list of runs. */
export interface RunFilter {
  flowId: string | null;
  state: string | null;
  triggerType: string | null;
  /** As `name:value`. */
  labels: readonly string[];
  /** A part of the name, which is searched among the loaded rows. */
  text: string;
}

export function readFilter(query: URLSearchParams): RunFilter {
  return {
    flowId: query.get('flow'),
    state: query.get('state'),
    triggerType: query.get('trigger'),
    labels: query.getAll('label'),
    text: query.get('text') ?? '',
  };
}

/** The states that the API can filter by. */
export const filterStates: Record<string, { title: string; query: Record<string, string> }> = {
  running: { title: 'Running', query: { status: 'running' } },
  waiting: { title: 'Needs an answer', query: { agentStatus: 'waiting' } },
  working: { title: 'Working', query: { agentStatus: 'working' } },
  sleep: { title: 'Asleep or ended', query: { status: 'sleep' } },
};

export function listQueryOf({ flowId, state, triggerType, labels }: RunFilter) {
  return {
    flowId: flowId ?? undefined,
    triggerType: triggerType ?? undefined,
    label: labels.length === 0 ? undefined : labels,
    ...filterStates[state ?? '']?.query,
  };
}

interface Named {
  name: string | null;
  runId: string;
  labels: Record<string, string>;
}

export function matchesText(run: Named, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  const labels = Object.entries(run.labels).map(([name, value]) => `${name}:${value}`);
  return [run.name ?? '', run.runId, ...labels].some((each) => each.toLowerCase().includes(wanted));
}
