import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { mcpLimits } from '../../core/agent/mcp-limits.ts';
import type { CallApi } from './call-api.ts';
import { collectFlows } from './find-flow.ts';
import { flowToolNames } from './flow-tool-name.ts';
import { runFlow } from './run-tools.ts';
import * as fields from './tool-fields.ts';

/** Each flow with a description is a tool. If flows cannot be read, the other tools remain. */
export async function flowTools(server: McpServer, callApi: CallApi): Promise<void> {
  const listed = await collectFlows(callApi, {
    count: mcpLimits.flowsMax,
    isWanted: ({ description }) => description !== null,
  });
  if ('error' in listed) return;
  const { flows } = listed;
  const names = flowToolNames(flows);
  for (const [index, { flowId, name, description, prompt }] of flows.entries()) {
    server.registerTool(
      names[index] ?? flowId,
      {
        title: name,
        description: description ?? name,
        inputSchema: z.strictObject({
          prompt: prompt === null ? fields.prompt : fields.prompt.optional(),
          idempotencyKey: fields.idempotencyKey,
          waitSeconds: fields.waitSeconds,
        }),
      },
      (request) => runFlow(callApi, { flowId, ...request }),
    );
  }
}
