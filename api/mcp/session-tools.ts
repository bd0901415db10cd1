import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { CallApi } from './call-api.ts';
import { findFlow } from './find-flow.ts';
import * as fields from './tool-fields.ts';
import { dataOf, firstPart, refusal, success } from './tool-result.ts';

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
      }),
    },
    async ({ flow, message, sessionId }) => {
      const found = await findFlow(callApi, flow);
      if ('refused' in found) return found.refused;
      const body = { message, stream: false, ...(sessionId === undefined ? {} : { sessionId }) };
      const path = `/api/v1/flows/${found.flowId}/chat`;
      const answer = await callApi({ method: 'POST', path, body });
      const turn = dataOf(answer) as Turn | null;
      if (turn === null) return refusal(answer);
      const ids = { sessionId: turn.sessionId, runId: turn.runId };
      if (answer.status === 202) {
        return success({ ...ids, hasEnded: false, next: 'Call run_transcript to see the reply.' });
      }
      const failed = turn.error === undefined ? {} : { error: turn.error };
      return success({ ...ids, hasEnded: true, ...failed, reply: firstPart(turn.text ?? '') });
    },
  );
}
