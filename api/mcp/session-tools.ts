import { randomUUID } from 'node:crypto';
import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { mcpLimits } from '../../core/agent/mcp-limits.ts';
import type { ApiCall, ApiResponse, CallApi } from './call-api.ts';
import { findFlow } from './find-flow.ts';
import * as fields from './tool-fields.ts';
import { dataOf, failureOf, firstPart, success } from './tool-result.ts';

interface Turn {
  sessionId: string;
  runId: string;
  text?: string;
  error?: string;
}

/** Sends a message and waits for the end of its turn. */
export function sessionTools(server: McpServer, callApi: CallApi): void {
  server.registerTool(
    'chat',
    {
      description:
        'Sends a message to a chat session of a flow and waits for the reply. Without sessionId it opens a session, which remembers the conversation.',
      inputSchema: z.strictObject({
        flow: fields.flow,
        message: z.string().min(1),
        sessionId: z.string().optional().describe('The ID that an earlier call returned.'),
        messageId: z
          .string()
          .optional()
          .describe('From an earlier call whose turn has not ended: waits for its reply.'),
      }),
    },
    async ({ flow, message, sessionId: known, messageId = randomUUID() }) => {
      const found = await findFlow(callApi, flow);
      if ('error' in found) return found.error;
      const path = `/api/v1/flows/${found.flowId}`;
      const opened = known === undefined ? await openSession(callApi, path) : known;
      if (typeof opened !== 'string') return failureOf(opened);
      const body = { message, sessionId: opened, clientMessageId: messageId, stream: false };
      const response = await withinWait(callApi, { method: 'POST', path: `${path}/chat`, body });
      return response === null || response.status === 202
        ? success({ sessionId: opened, messageId, hasEnded: false, next })
        : replyOf(response);
    },
  );
}

/**
 * Returns null if the tool has waited long enough, or its client has disconnected. The message is
 * then stored, or can be sent again.
 */
async function withinWait(callApi: CallApi, call: ApiCall): Promise<ApiResponse | null> {
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, mcpLimits.waitMaxSeconds * 1_000);
  callApi.signal.addEventListener('abort', end);
  if (callApi.signal.aborted) end();
  try {
    return await callApi({ ...call, signal: ending.signal });
  } catch (error) {
    if (ending.signal.aborted) return null;
    throw error;
  } finally {
    clearTimeout(timer);
    callApi.signal.removeEventListener('abort', end);
  }
}

const next = 'The turn has not ended: call chat again with the same message and these IDs.';

/** The ID of the session, or the error of the route. */
async function openSession(callApi: CallApi, path: string): Promise<string | ApiResponse> {
  const response = await callApi({ method: 'POST', path: `${path}/sessions`, body: {} });
  const session = dataOf(response) as { sessionId: string } | null;
  return session?.sessionId ?? response;
}

function replyOf(response: ApiResponse): CallToolResult {
  const turn = dataOf(response) as Turn | null;
  if (turn === null) return failureOf(response);
  const { sessionId, runId, text = '', error } = turn;
  const failed = error === undefined ? {} : { error };
  return success({ sessionId, runId, hasEnded: true, ...failed, reply: firstPart(text) });
}
