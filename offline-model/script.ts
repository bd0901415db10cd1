import { z } from 'zod';

/**
 * A script is a JSON list of steps in a prompt, after `@model` on a line or in a fenced block:
 *
 *   @model [{"tool":"Bash","input":{"command":"ls"}},{"text":"Seen: {{last_tool_result}}"}]
 *
 * The steps up to and including a tool call make one reply. The number of earlier replies selects
 * it. `status` and `cut` occur `times` times (by default once) before their reply succeeds.
 */
const input = z.record(z.string(), z.unknown());
const times = z.number().int().min(1).default(1);
const tokens = z.number().int().min(0);

const simpleStep = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ thinking: z.string() }),
  z.strictObject({ tool: z.string().min(1), input: input.default({}) }),
  z.strictObject({
    tools: z.array(z.strictObject({ tool: z.string().min(1), input: input.default({}) })).min(1),
  }),
  z.strictObject({ delayMs: z.number().int().min(0) }),
  z.strictObject({
    status: z.number().int().min(400).max(599),
    times,
    message: z.string().optional(),
    retryAfterSeconds: z.number().min(0).optional(),
  }),
  z.strictObject({ cut: z.literal(true), times }),
  z.strictObject({
    usage: z.strictObject({
      input_tokens: tokens.optional(),
      output_tokens: tokens.optional(),
      cache_creation_input_tokens: tokens.optional(),
      cache_read_input_tokens: tokens.optional(),
      server_tool_use: z.strictObject({ web_search_requests: tokens }).optional(),
    }),
  }),
  z.strictObject({ stopReason: z.enum(['end_turn', 'max_tokens', 'refusal']) }),
]);

const repeatStep = z.strictObject({
  repeat: z.number().int().min(1).max(10_000),
  steps: z.array(simpleStep).min(1),
});

const scriptSchema = z.array(z.union([simpleStep, repeatStep])).min(1);

export type Step = z.infer<typeof simpleStep>;
export type Script = z.input<typeof scriptSchema>;
type FoundScript = { steps: readonly Step[] } | { unreadable: string };

const opening = /(?:^|\s)@model\s*(?:```[a-z]*\s*)?(?=\[)/;

/** Finds the script in a prompt. Undefined if there is none. */
export function findScript(prompt: string): FoundScript | undefined {
  const match = opening.exec(prompt);
  if (match === null) return undefined;
  const list = jsonListAt(prompt, match.index + match[0].length);
  if (list === undefined) return { unreadable: 'the list of steps is never closed' };
  try {
    return { steps: readScript(JSON.parse(list)) };
  } catch (error) {
    return { unreadable: error instanceof z.ZodError ? z.prettifyError(error) : String(error) };
  }
}

/** Validates steps and expands repetitions. `{{n}}` is the number of the repetition, from 1. */
export function readScript(value: unknown): readonly Step[] {
  return scriptSchema.parse(value).flatMap((step) => {
    if (!('repeat' in step)) return [step];
    return Array.from({ length: step.repeat }, (_, index) =>
      step.steps.map((inner) => numbered(inner, index + 1)),
    ).flat();
  });
}

function numbered(step: Step, number: number): Step {
  return simpleStep.parse(JSON.parse(JSON.stringify(step).replaceAll('{{n}}', String(number))));
}

/** The text of the JSON list that begins at `start`. Ignores brackets in strings. */
function jsonListAt(text: string, start: number): string | undefined {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '[') depth += 1;
    else if (char === ']') {
      depth -= 1;
      if (depth === 0) return text.slice(start, at + 1);
    }
  }
  return undefined;
}
