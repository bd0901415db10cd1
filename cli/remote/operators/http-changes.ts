import type { JsonObject } from '../../../core/json.ts';
import { findRecord, type Identified, type Operator, pathOf } from './find-record.ts';
import { orNull } from './or-null.ts';

type OfProject = JsonObject & { projectId: string };
type Decide = (before: { flow: Identified; secrets: object }) => JsonObject;

/** The changes of the administration, each as one request. Null if there is no such object. */
export function httpChanges(operator: Operator) {
  return { ...projectChanges(operator), ...flowChanges(operator), ...endpointChanges(operator) };
}

function projectChanges(operator: Operator) {
  const { http } = operator;
  const keyPath = async (reference: string): Promise<string | null> => {
    const key = await findRecord(operator, 'key', reference);
    return key && `${pathOf(key.projectId)}/keys/${String(key['keyId'])}`;
  };
  return {
    createProject: (json: object) => http.data({ method: 'POST', path: '/projects', json }),
    changeSettings: (id: string, json: object) =>
      orNull(http.data({ method: 'PATCH', path: `${pathOf(id)}/settings`, json })),
    setProjectArchived: (id: string, isArchived: boolean) =>
      http.data(archiving(pathOf(id), isArchived)),
    prepareWebhookSecret: (id: string) =>
      http.data({ method: 'POST', path: `${pathOf(id)}/webhook-secret/next`, isRepeatable: true }),
    rotateWebhookSecret: (id: string, json: { immediately: boolean }) =>
      http.data({ method: 'POST', path: `${pathOf(id)}/webhook-secret/rotate`, json }),
    /** The service names the operator as the creator. */
    async createKey({ projectId, createdBy: _createdBy, ...json }: OfProject) {
      const path = `${pathOf(projectId)}/keys`;
      const { key, ...record } = await http.data<JsonObject>({ method: 'POST', path, json });
      return { key, record };
    },
    async changeKey(reference: string, json: object) {
      const path = await keyPath(reference);
      return path && http.data({ method: 'PATCH', path, json });
    },
    revokeKey: ({ projectId, keyId }: OfProject) =>
      http.data({ method: 'DELETE', path: `${pathOf(projectId)}/keys/${String(keyId)}` }),
  };
}

function flowChanges(operator: Operator) {
  const { http } = operator;
  const pathOfFlow = ({ projectId, flowId }: OfProject | Identified): string =>
    `${pathOf(projectId)}/flows/${String(flowId)}`;
  return {
    createFlow: ({ projectId, ...json }: OfProject) =>
      http.data({ method: 'POST', path: `${pathOf(projectId)}/flows`, json }),
    /** The service keeps the secrets that the change does not name. */
    async changeFlow(reference: string, decide: Decide) {
      const flow = await findRecord(operator, 'flow', reference);
      if (flow === null) return null;
      const json = decide({ flow, secrets: {} });
      return http.data({ method: 'PATCH', path: pathOfFlow(flow), json });
    },
    setArchived: (flow: OfProject, isArchived: boolean) =>
      http.data(archiving(pathOfFlow(flow), isArchived)),
    setSchedulePaused: (flow: OfProject, isPaused: boolean) =>
      http.data({
        method: 'POST',
        path: `${pathOfFlow(flow)}/schedule/${isPaused ? 'pause' : 'resume'}`,
        isRepeatable: true,
      }),
  };
}

function endpointChanges({ http }: Operator) {
  const pathOfEndpoint = ({ projectId, endpointId }: OfProject): string =>
    `${pathOf(projectId)}/endpoints/${String(endpointId)}`;
  return {
    createEndpoint: ({ projectId, ...json }: OfProject) =>
      http.data({ method: 'POST', path: `${pathOf(projectId)}/endpoints`, json }),
    changeEndpoint: (endpoint: OfProject, json: object) =>
      http.data({ method: 'PATCH', path: pathOfEndpoint(endpoint), json }),
    async removeEndpoint(endpoint: OfProject) {
      await http.remove({ path: pathOfEndpoint(endpoint) }, null);
      return true;
    },
    async sendTestEvent(endpoint: OfProject) {
      const path = `${pathOfEndpoint(endpoint)}/test`;
      return (await http.data<{ eventId: string }>({ method: 'POST', path })).eventId;
    },
    async redeliverEvent(event: OfProject) {
      const path = `${pathOfEndpoint(event)}/events/${String(event['eventId'])}/redeliver`;
      return (await http.data<{ delivery: number }>({ method: 'POST', path })).delivery;
    },
  };
}

const archiving = (path: string, isArchived: boolean) =>
  isArchived
    ? ({ method: 'DELETE', path } as const)
    : ({ method: 'POST', path: `${path}/restore`, isRepeatable: true } as const);
