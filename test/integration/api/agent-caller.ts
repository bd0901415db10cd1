// The agent of a run as a caller of the API: its host adds the token to its calls.

import { createAgentToken } from '../../../systems/postgres/runs/agent-token-store.ts';
import type { ApiFixture } from '../../support/api-fixture.ts';
import { testSealer } from '../../support/database.ts';
import { type CallOptions, caller } from './call.ts';

interface ToolAnswer {
  text: string;
  isError: boolean;
}

/** The token of the first sandbox of a run. */
export const agentTokenOf = (runId: string, generation = 1): string =>
  createAgentToken(testSealer, { runId, generation });

export function agentOf({ url }: { url: string }, runId: string) {
  const call = (path: string, options?: CallOptions) =>
    caller({ url }, agentTokenOf(runId))(path, options);

  /** The ID is that of the tool call in the agent's conversation. */
  async function useTool(name: string, args: object, toolUseId?: string): Promise<ToolAnswer> {
    const meta = toolUseId === undefined ? {} : { 'claudecode/toolUseId': toolUseId };
    const params = { name, arguments: args, ['_meta']: meta };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const { json } = await call('/api/v1/mcp', { body });
    const { result, error } = json;
    if (error?.message !== undefined) return { text: error.message, isError: true };
    return { text: result.content[0].text, isError: result.isError === true };
  }

  /** Starts a run of a flow. Returns its ID, or the text of the error. */
  async function startChild(flow: string, toolUseId?: string): Promise<string> {
    const args = { flow, prompt: 'Go', waitSeconds: 0 };
    const { text, isError } = await useTool('run_flow', args, toolUseId);
    return isError ? text : JSON.parse(text).runId;
  }

  return { call, useTool, startChild };
}

/** A flow whose runs may start runs. */
export async function flowWithChildren(
  fixture: ApiFixture,
  projectId: string,
  childRuns: { maxRuns?: number; maxConcurrent?: number; maxBudgetUsd?: number } = {},
): Promise<string> {
  const limits = { maxRuns: 20, maxConcurrent: 20, maxBudgetUsd: null, ...childRuns };
  const { flowId } = await fixture.stores.flows.create({
    ...{ projectId, name: 'A manager', childRuns: limits },
  });
  return flowId;
}
