import type { Flow } from '../../client/generated/types.ts';
import { isFlowrunError } from '../../client/http/errors.ts';
import { withDefaults } from './flow-fields.ts';
import type { FlowService } from './flow-service.ts';
import type { FileProblem } from './front-matter.ts';
import { type ActualFlow, type FlowPlan, planArchive, planFlow } from './plan.ts';
import type { LocalFile, LocalFlow } from './read-folder.ts';
import { findSecrets, type Secrets } from './secrets.ts';
import { serviceProblems } from './service-problems.ts';

export interface FolderPlan {
  steps: { plan: FlowPlan; files: readonly LocalFile[] }[];
  problems: FileProblem[];
  /** Environment variables that are not set; the stored values stay. */
  kept: string[];
  /** The flows of the project that the folder does not have. */
  unmanaged: Flow[];
}

interface Options {
  prune: boolean;
  environment: Readonly<Record<string, string | undefined>>;
}

/** Compares a folder with the service. Every flow is validated, and nothing is changed. */
export async function planFolder(
  service: FlowService,
  flows: readonly LocalFlow[],
  { prune, environment }: Options,
): Promise<FolderPlan> {
  const live = await service.list({ isArchived: false });
  const archived = await service.list({ isArchived: true });
  const result: FolderPlan = { steps: [], problems: [], kept: [], unmanaged: [] };
  for (const local of flows) {
    const found = recordOf(local, { live, archived });
    if ('problem' in found) {
      result.problems.push(found.problem);
      continue;
    }
    const { secrets, kept, problems } = findSecrets(local.flow, found.record, environment);
    result.kept.push(...kept);
    result.problems.push(...problems);
    if (problems.length > 0) continue;
    const actual = await readActual(service, { ...local, record: found.record, secrets });
    if (Array.isArray(actual)) result.problems.push(...actual);
    else {
      const plan = planFlow({ ...local, secrets }, actual);
      if (plan !== null) result.steps.push({ plan, files: local.files });
    }
  }
  const names = new Set(flows.map(({ flow }) => flow.name));
  result.unmanaged = live.filter(({ name }) => !names.has(name));
  if (prune)
    result.steps.push(...result.unmanaged.map((flow) => ({ plan: planArchive(flow), files: [] })));
  return result;
}

interface Stored {
  live: readonly Flow[];
  archived: readonly Flow[];
}

/** The flow with this name; an archived one only if no other flow has the name. */
function recordOf(
  { flow: { name, file, lineOf } }: LocalFlow,
  { live, archived }: Stored,
): { record: Flow | null } | { problem: FileProblem } {
  const named = live.filter((flow) => flow.name === name);
  if (named.length > 1) {
    const message = `the project has ${named.length} flows with this name: rename or archive one`;
    return { problem: { file, line: lineOf(['name']), field: 'name', message } };
  }
  const last = archived
    .filter((flow) => flow.name === name)
    .sort((a, b) => ((a.archivedAt ?? '') < (b.archivedAt ?? '') ? 1 : -1));
  return { record: named[0] ?? last[0] ?? null };
}

/** Null if the flow is new; problems if the service rejects its fields. */
async function readActual(
  service: FlowService,
  { flow, record, secrets }: LocalFlow & { record: Flow | null; secrets: Secrets },
): Promise<ActualFlow | null | FileProblem[]> {
  try {
    const changed = await service.check({
      ...withDefaults(flow.fields),
      ...(record === null ? {} : { flowId: record.flowId }),
      env: { ...removed(record?.envNames, flow.env), ...secrets.env },
      mcpServers: { ...removed(record?.mcpServerNames, flow.mcpServers), ...secrets.mcpServers },
    });
    if (record === null) return null;
    return {
      record,
      files: await service.files(record.flowId),
      changedSecrets: { env: changed.changedEnvNames, mcpServers: changed.changedMcpServerNames },
    };
  } catch (error) {
    if (!isFlowrunError(error) || error.code !== 'VALIDATION_ERROR') throw error;
    return serviceProblems(flow, error.message);
  }
}

/** Null removes a secret that the file does not have. */
const removed = (stored: readonly string[] = [], named: object): Record<string, null> =>
  Object.fromEntries(stored.filter((name) => !(name in named)).map((name) => [name, null]));
