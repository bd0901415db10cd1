import type { FileEntry, Flow } from '../../client/generated/types.ts';
import type { Http } from '../../client/http/http.ts';
import type { JsonObject } from '../../core/json.ts';
import type { FlowPlan } from './plan.ts';
import type { LocalFile } from './read-folder.ts';

/** The flows of one project. */
export interface FlowService {
  list(options: { isArchived: boolean }): Promise<Flow[]>;
  files(flowId: string): Promise<FileEntry[]>;
  /** The files of a flow as a tar archive. */
  archive(flowId: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Validates the fields of a flow, and compares its secrets with the stored ones. */
  check(fields: JsonObject): Promise<ChangedSecrets>;
  /** Makes the changes of a plan. `files` are all files of the flow. */
  apply(plan: FlowPlan, files: readonly LocalFile[]): Promise<void>;
}

interface ChangedSecrets {
  changedEnvNames: string[];
  changedMcpServerNames: string[];
}

export function createFlowService(http: Http, projectId: string): FlowService {
  const root = `/projects/${encodeURIComponent(projectId)}/flows`;

  async function apply(plan: FlowPlan, files: readonly LocalFile[]): Promise<void> {
    if (plan.action === 'archive') return remove(plan.flowId);
    const flowId = plan.flowId ?? (await create(plan.body));
    const path = `${root}/${flowId}`;
    const isChanged = plan.flowId !== null && Object.keys(plan.body).length > 0;
    if (isChanged) await http.data({ method: 'PATCH', path, json: plan.body });
    if (plan.files.length > 0) await putFiles(`${path}/files`, files);
    // Last, so that its schedule starts no run with the fields of before.
    if (plan.action === 'restore') await http.data({ method: 'POST', path: `${path}/restore` });
  }

  async function create(json: JsonObject): Promise<string> {
    return (await http.data<Flow>({ method: 'POST', path: root, json })).flowId;
  }

  async function remove(flowId: string | null): Promise<void> {
    await http.data({ method: 'DELETE', path: `${root}/${flowId}` });
  }

  async function putFiles(path: string, files: readonly LocalFile[]): Promise<void> {
    const inputs = files.map(({ path: name, content, mode }) => {
      return { path: name, content: content.toString('base64'), encoding: 'base64', mode };
    });
    await http.data({ method: 'PUT', path, json: { files: inputs } });
  }

  return {
    list: ({ isArchived }) =>
      all<Flow>(http.items({ path: root, query: { archived: isArchived, limit: pageSize } })),
    files: (flowId) =>
      all<FileEntry>(http.items({ path: `${root}/${flowId}/files`, query: { limit: pageSize } })),
    async archive(flowId) {
      const { body } = await http.send({ path: `${root}/${flowId}/files.tar` });
      if (body === null) throw new TypeError('The archive has no body.');
      return body;
    },
    check: (json) => http.data({ method: 'POST', path: `${root}/check`, json, isRepeatable: true }),
    apply,
  };
}

const pageSize = 200;

async function all<T>(items: AsyncGenerator<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
