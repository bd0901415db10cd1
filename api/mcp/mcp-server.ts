import { McpServer } from '@modelcontextprotocol/server';
import type { CallApi } from './call-api.ts';
import { fileTools } from './file-tools.ts';
import { isFlowToolName } from './flow-tool-name.ts';
import { flowTools } from './flow-tools.ts';
import { controlTools, runTools } from './run-tools.ts';
import { sessionTools } from './session-tools.ts';

interface McpMessage {
  method: string;
  params?: Record<string, unknown> | undefined;
}

const instructions =
  'Flows are configured agents. run_flow starts a run in a fresh container and waits for its end, ' +
  'at most 45 seconds. If the run has not ended by then, call run_status with its runId.';

/**
 * A server for one message. The agent of a run has no sessions: it can use only the runs that it
 * has started.
 */
export async function createMcpServer(
  callApi: CallApi,
  message: McpMessage,
  { isAgent }: { isAgent: boolean },
): Promise<McpServer> {
  const server = new McpServer({ name: 'flowrun', version: '1.0.0' }, { instructions });
  runTools(server, callApi);
  controlTools(server, callApi);
  fileTools(server, callApi);
  if (!isAgent) sessionTools(server, callApi);
  if (needsFlowTools(message)) await flowTools(server, callApi);
  return server;
}

/** The flows are read only if the message concerns their tools. */
function needsFlowTools({ method, params }: McpMessage): boolean {
  return method === 'tools/list' || (method === 'tools/call' && isFlowToolName(params?.['name']));
}
