import type { Conversation } from '../conversation.ts';
import { callTool, type MessageReply, message, type Part, type Reply, say } from '../reply.ts';
import type { Step } from '../script.ts';

/** The reply of a script at this point. `attempt` is how often this reply was requested before. */
export function scriptedReply(
  steps: readonly Step[],
  conversation: Conversation,
  attempt: number,
): Reply {
  const group = groupsOf(steps)[conversation.rounds];
  if (group === undefined) return message([say('The script has no further step.')]);
  const fault = faultAt(group, attempt);
  if (fault !== undefined && 'status' in fault) {
    const { status, message: text, retryAfterSeconds } = fault;
    return {
      kind: 'error',
      status,
      ...(text !== undefined && { message: text }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    };
  }
  return groupReply(group, conversation, fault);
}

/** A reply ends with its tool calls; later steps belong to the next reply. */
function groupsOf(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = [[]];
  for (const step of steps) {
    groups.at(-1)?.push(step);
    if ('tool' in step || 'tools' in step) groups.push([]);
  }
  return groups.filter((group) => group.length > 0);
}

type Fault = Extract<Step, { times: number }>;

function faultAt(group: readonly Step[], attempt: number): Fault | undefined {
  let passed = 0;
  for (const step of group) {
    if (!('times' in step)) continue;
    passed += step.times;
    if (attempt < passed) return step;
  }
  return undefined;
}

function groupReply(group: readonly Step[], conversation: Conversation, cut?: Fault): MessageReply {
  const parts = group.flatMap((step) => partsOf(step, conversation, cut));
  const isSilent = parts.every((part) => part.kind === 'delay' || part.kind === 'thinking');
  const reply = message(isSilent ? [...parts, say('Done.')] : parts);
  for (const step of group) {
    if ('usage' in step) reply.usage = withoutUndefined(step.usage);
    if ('stopReason' in step) reply.stopReason = step.stopReason;
  }
  return reply;
}

function partsOf(step: Step, conversation: Conversation, cut: Fault | undefined): Part[] {
  const fill = (value: unknown) => filled(value, conversation);
  if ('text' in step) return [say(String(fill(step.text)))];
  if ('thinking' in step) return [{ kind: 'thinking', thinking: String(fill(step.thinking)) }];
  if ('tool' in step) return [callTool(step.tool, filledInput(step.input, conversation))];
  if ('tools' in step) {
    return step.tools.map(({ tool, input }) => callTool(tool, filledInput(input, conversation)));
  }
  if ('delayMs' in step) return [{ kind: 'delay', delayMs: step.delayMs }];
  if ('cut' in step && step === cut) return [{ kind: 'cut' }];
  return [];
}

function filledInput(input: Readonly<Record<string, unknown>>, conversation: Conversation) {
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [key, filled(value, conversation)]),
  );
}

/** Replaces placeholders in strings at any depth. */
function filled(value: unknown, conversation: Conversation): unknown {
  if (typeof value === 'string') return filledText(value, conversation);
  if (Array.isArray(value)) return value.map((item) => filled(item, conversation));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, filled(item, conversation)]),
  );
}

function filledText(text: string, { calls, workingDirectory, earlierPrompts }: Conversation) {
  return text
    .replaceAll('{{last_tool_result}}', () => calls.at(-1)?.result?.text ?? '')
    .replaceAll('{{cwd}}', () => workingDirectory)
    .replaceAll('{{earlier_prompts}}', () => earlierPrompts.join(' | '));
}

function withoutUndefined<T extends object>(
  value: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const defined = Object.entries(value).filter(([, item]) => item !== undefined);
  // the object's entries without the undefined ones
  return Object.fromEntries(defined) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
