import type { ToolOutcome } from '../frames.ts';
import { type Fields, fieldsAt, isFields, textAt } from '../json.ts';
import type { Handlers } from '../run-steps.ts';
import { type Turn, useTool } from '../turn.ts';

/** What waits for whoever started the agent. */
export const askingSteps: Handlers = {
  /** A question, with the input of the tool that asks; its answer is the tool's result. */
  ask: (step, turn) => askPermission(turn, 'AskUserQuestion', fieldsAt(step, 'ask')),
  /** Several at once; a turn goes on when all are answered. */
  asks: async (step, turn) => {
    const inputs = Array.isArray(step['asks']) ? step['asks'].filter(isFields) : [];
    await Promise.all(inputs.map((input) => askPermission(turn, 'AskUserQuestion', input)));
  },
  /** Whether another tool may be used: `{"permit":"Bash"}`. */
  permit: (step, turn) => askPermission(turn, textAt(step, 'permit'), { command: 'true' }),
  /** Something else of whoever started it: `{"request":"elicitation"}`. */
  request: async (step, turn) => {
    const response = await request(turn, { subtype: textAt(step, 'request') });
    turn.output.frame({ type: 'request_answered', with: response['subtype'] });
  },
};

function askPermission(turn: Turn, name: string, input: Fields): Promise<void> {
  return useTool(turn, { name, input, subject: '' }, async (): Promise<ToolOutcome> => {
    const question = { subtype: 'can_use_tool', tool_name: name, display_name: name, input };
    const answer = fieldsIn(await request(turn, question), 'response');
    if (answer['behavior'] !== 'allow') return { text: String(answer['message']), isError: true };
    const { answers } = fieldsIn(answer, 'updatedInput');
    return { text: `Answered: ${JSON.stringify(answers)}`, isError: false };
  });
}

/** The line of an answer is printed once more when it is taken, unless it is an error. */
async function request({ session, output, signal }: Turn, asked: Fields): Promise<Fields> {
  const id = output.newId();
  output.line({ type: 'control_request', request_id: id, request: asked });
  const withdraw = (): void => output.line({ type: 'control_cancel_request', request_id: id });
  signal.addEventListener('abort', withdraw);
  const response = await new Promise<Fields>((resolve, reject) => {
    session.requests.set(id, resolve);
    signal.addEventListener('abort', () => reject(new Error('withdrawn')));
  });
  signal.removeEventListener('abort', withdraw);
  session.requests.delete(id);
  if (response['subtype'] === 'success') output.line({ type: 'control_response', response });
  return response;
}

function fieldsIn(value: Fields, name: string): Fields {
  const member = value[name];
  return isFields(member) ? member : {};
}
