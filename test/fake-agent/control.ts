import type { Agent } from './agent.ts';
import { type Fields, isFields } from './json.ts';
import type { Output } from './output.ts';
import type { Session } from './session.ts';

/** Answers a control request of the kinds that the service sends. */
export function answerControl(line: Fields, { agent, session, output }: Control): void {
  const request = isFields(line['request']) ? line['request'] : {};
  const answer = (response: Fields) =>
    output.line({
      type: 'control_response',
      response: { request_id: line['request_id'], ...response },
    });
  switch (request['subtype']) {
    case 'interrupt':
      return answer({ subtype: 'success', response: { still_queued: agent.interrupt() } });
    case 'initialize':
      if (typeof request['appendSystemPrompt'] === 'string') {
        session.systemPrompt = request['appendSystemPrompt'];
      }
      return answer({ subtype: 'success', response: { commands: [] } });
    case 'mcp_set_servers':
      session.mcpServers = isFields(request['servers']) ? request['servers'] : {};
      return answer({ subtype: 'success', response: { added: [], removed: [], errors: {} } });
    default:
      return answer({
        subtype: 'error',
        error: `Unsupported control request subtype: ${String(request['subtype'])}`,
      });
  }
}

export interface Control {
  agent: Agent;
  session: Session;
  output: Output;
}
