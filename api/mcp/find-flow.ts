import type { CallToolResult } from '@modelcontextprotocol/server';
import type { FlowRecord } from '../flows/flow-schema.ts';
import { isUuid } from '../http/not-found.ts';
import type { CallApi } from './call-api.ts';
import { dataOf, failure, failureOf } from './tool-result.ts';

type Found = { flowId: string } | { error: CallToolResult };

/** Finds a flow by its ID or its name. */
export async function findFlow(callApi: CallApi, nameOrId: string): Promise<Found> {
  if (isUuid(nameOrId)) return { flowId: nameOrId };
  const listed = await listFlows(callApi);
  if ('error' in listed) return listed;
  const [flow, another] = listed.flows.filter(({ name }) => name === nameOrId);
  if (flow === undefined) {
    return {
      error: failure(`No flow has the name ${JSON.stringify(nameOrId)}. Call list_flows.`),
    };
  }
  if (another !== undefined) {
    return { error: failure('Several flows have this name. Pass a flow ID from list_flows.') };
  }
  return { flowId: flow.flowId };
}

/** The first page of flows, which has up to 200. */
export async function listFlows(
  callApi: CallApi,
): Promise<{ flows: FlowRecord[] } | { error: CallToolResult }> {
  const response = await callApi({ method: 'GET', path: '/api/v1/flows?limit=200' });
  const flows = dataOf(response) as FlowRecord[] | null;
  return flows === null ? { error: failureOf(response) } : { flows };
}
