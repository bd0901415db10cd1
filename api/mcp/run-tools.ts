import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { FlowRecord } from '../flows/flow-schema.ts';
import type { RunRecord } from '../runs/run-schema.ts';
import type { CallApi } from './call-api.ts';
import { findFlow, listFlows } from './find-flow.ts';
import { waitForRun } from './run-result.ts';
import * as fields from './tool-fields.ts';
import { dataOf, failureOf, firstPart, success } from './tool-result.ts';

interface RunRequest {
  flowId: string;
  prompt?: string | undefined;
  idempotencyKey?: string | undefined;
  waitSeconds: number;
}

/** Starts a run and waits for its end. If the client disconnects, the run continues. */
export async function runFlow(
  callApi: CallApi,
  { flowId, prompt, idempotencyKey, waitSeconds }: RunRequest,
): Promise<CallToolResult> {
  const key = idempotencyKey ?? callApi.toolCallId;
  const body = {
    ...(prompt === undefined ? {} : { prompt }),
    ...(key === null ? {} : { idempotencyKey: key }),
  };
  const started = await callApi({ method: 'POST', path: `/api/v1/flows/${flowId}/runs`, body });
  const run = dataOf(started) as RunRecord | null;
  if (run === null) return failureOf(started);
  return waitForRun(callApi, { runId: run.runId, seconds: waitSeconds, isStarted: true });
}

/** Tools that start runs and wait for their ends. */
export function runTools(server: McpServer, callApi: CallApi): void {
  server.registerTool(
    'list_flows',
    {
      description: 'The flows that can be run, with their names and descriptions.',
      inputSchema: z.strictObject({
        cursor: z.string().optional().describe('From an earlier call that did not list all flows.'),
      }),
      annotations: { readOnlyHint: true },
    },
    async ({ cursor }) => {
      const listed = await listFlows(callApi, cursor);
      return 'error' in listed ? listed.error : listing(listed.flows, listed.nextCursor);
    },
  );

  server.registerTool(
    'run_flow',
    {
      description: 'Starts a run of a flow in a fresh container and waits for its end.',
      inputSchema: z.strictObject({
        flow: fields.flow,
        prompt: fields.prompt.optional(),
        idempotencyKey: fields.idempotencyKey,
        waitSeconds: fields.waitSeconds,
      }),
    },
    async ({ flow, ...request }) => {
      const found = await findFlow(callApi, flow);
      return 'error' in found ? found.error : runFlow(callApi, { ...found, ...request });
    },
  );

  server.registerTool(
    'run_status',
    {
      description: 'Whether a run has ended, its result, and the questions of its agent.',
      inputSchema: z.strictObject({ runId: fields.runId, waitSeconds: fields.waitSeconds }),
      annotations: { readOnlyHint: true },
    },
    ({ runId, waitSeconds }) => waitForRun(callApi, { runId, seconds: waitSeconds }),
  );
}

/** If there are more flows, a second text says how to list them. */
function listing(flows: FlowRecord[], nextCursor: string | null): CallToolResult {
  const listed = success(
    flows.map(({ flowId, name, description }) => ({
      flowId,
      name,
      description: description && firstPart(description),
    })),
  );
  if (nextCursor === null) return listed;
  const text = `There are more flows: call list_flows with the cursor ${nextCursor}.`;
  return { content: [...listed.content, { type: 'text', text }] };
}

/** Tools that change a run. */
export function controlTools(server: McpServer, callApi: CallApi): void {
  server.registerTool(
    'stop_run',
    {
      description: 'Ends a run. Its log and files are kept.',
      inputSchema: z.strictObject({ runId: fields.runId }),
      annotations: { destructiveHint: true, idempotentHint: true },
    },
    async ({ runId }) => {
      const response = await callApi({
        method: 'POST',
        path: `/api/v1/runs/${runId}/stop`,
        body: {},
      });
      return response.status < 300 ? success({ runId, stopping: true }) : failureOf(response);
    },
  );

  server.registerTool(
    'answer_question',
    {
      description: 'Answers a question of the agent of a run, which run_status shows.',
      inputSchema: z.strictObject({
        runId: fields.runId,
        interactionId: z.string(),
        answers: z
          .record(z.string(), z.union([z.string(), z.array(z.string())]))
          .describe(
            'Answers keyed by the text of the question: the label of an option, or free text.',
          ),
      }),
    },
    async ({ runId, interactionId, answers }) => {
      const path = `/api/v1/runs/${runId}/interactions/${encodeURIComponent(interactionId)}`;
      const response = await callApi({ method: 'POST', path, body: { answers } });
      return response.status < 300 ? success({ runId, answered: true }) : failureOf(response);
    },
  );
}
