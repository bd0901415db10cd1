import type { CallToolResult } from '@modelcontextprotocol/server';
import type { FlowRecord } from '../flows/flow-schema.ts';
import { isUuid } from '../http/not-found.ts';
import type { CallApi } from './call-api.ts';
import { dataOf, failure, failureOf } from './tool-result.ts';

interface Failed {
  error: CallToolResult;
}

/** Finds a flow by its ID or its name. */
export async function findFlow(
  callApi: CallApi,
  nameOrId: string,
): Promise<{ flowId: string } | Failed> {
  if (isUuid(nameOrId)) return { flowId: nameOrId };
  const listed = await collectFlows(callApi, {
    count: 2,
    isWanted: ({ name }) => name === nameOrId,
  });
  if ('error' in listed) return listed;
  const [flow, another] = listed.flows;
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

interface Wanted {
  isWanted: (flow: FlowRecord) => boolean;
  count: number;
}

/** The first flows that are wanted, from as many pages as they need. */
export async function collectFlows(
  callApi: CallApi,
  { isWanted, count }: Wanted,
): Promise<{ flows: FlowRecord[] } | Failed> {
  const flows: FlowRecord[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await listFlows(callApi, cursor);
    if ('error' in page) return page;
    flows.push(...page.flows.filter(isWanted));
    if (page.nextCursor === null || flows.length >= count) return { flows: flows.slice(0, count) };
    cursor = page.nextCursor;
  }
}

/** One page of flows. */
export async function listFlows(
  callApi: CallApi,
  cursor?: string,
): Promise<{ flows: FlowRecord[]; nextCursor: string | null } | Failed> {
  const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  const response = await callApi({ method: 'GET', path: `/api/v1/flows?limit=200${after}` });
  const flows = dataOf(response) as FlowRecord[] | null;
  return flows === null
    ? { error: failureOf(response) }
    : { flows, nextCursor: response.nextCursor };
}
