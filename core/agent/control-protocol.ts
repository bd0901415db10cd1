import { type JsonObject, objectIn, textIn } from '../json.ts';
import {
  type ControlDenial,
  type Interaction,
  type InteractionOutcome,
  interactionIdIn,
  questionInput,
} from './interaction.ts';

/** The agent's control messages. */
export interface ControlFacts {
  /** A question for the client. */
  asked?: Interaction;
  /** To be denied at once, or the agent would wait forever. */
  denied?: ControlDenial;
  /** The agent has accepted an answer or withdrawn its question. */
  closed?: { interactionId: string; outcome: InteractionOutcome };
}

const askingTool = 'AskUserQuestion';

export function controlFacts(type: string, line: JsonObject): ControlFacts {
  switch (type) {
    case 'control_request':
      return requestFacts(line);
    case 'control_response':
      return responseFacts(objectIn(line, 'response'));
    case 'control_cancel_request':
      return closedFacts(line, 'withdrawn');
    default:
      return {};
  }
}

function requestFacts(line: JsonObject): ControlFacts {
  const requestId = interactionIdIn(line);
  if (requestId === null) return {};
  const request = objectIn(line, 'request');
  if (textIn(request, 'subtype') !== 'can_use_tool')
    return { denied: { requestId, of: 'request' } };
  const input = questionInput(objectIn(request, 'input'));
  if (textIn(request, 'tool_name') !== askingTool || input === null) {
    return { denied: { requestId, of: 'permission' } };
  }
  return { asked: { interactionId: requestId, toolName: askingTool, input } };
}

/** The agent echoes an answer to a permission request when it accepts it. */
function responseFacts(response: JsonObject): ControlFacts {
  const isPermission = textIn(objectIn(response, 'response'), 'behavior') !== null;
  return isPermission ? closedFacts(response, 'answered') : {};
}

function closedFacts(value: JsonObject, outcome: InteractionOutcome): ControlFacts {
  const interactionId = interactionIdIn(value);
  return interactionId === null ? {} : { closed: { interactionId, outcome } };
}
