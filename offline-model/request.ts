import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Attempts } from './attempts.ts';
import type { Step } from './script.ts';

export interface RecordedRequest {
  method: string;
  /** Path with its query. */
  url: string;
  headers: IncomingHttpHeaders;
  /** The parsed JSON body. Undefined if there is none or it is invalid. */
  body: unknown;
}

export interface RouteContext {
  attempts: Attempts;
  deltaMs: number;
  record: (request: RecordedRequest) => void;
  fallbackScript: readonly Step[] | undefined;
}

/** The parts of a Messages API request that the offline model reads. Others are ignored. */
const contentBlock = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.record(z.string(), z.unknown()).optional(),
  tool_use_id: z.string().optional(),
  content: z.unknown().optional(),
  is_error: z.boolean().nullish(),
});

const content = z.union([z.string(), z.array(contentBlock)]);

export const messagesRequest = z.looseObject({
  model: z.string().min(1),
  messages: z
    .array(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content }))
    .min(1, 'at least one message is required'),
  system: content.optional(),
  tools: z
    .array(z.looseObject({ name: z.string().optional(), input_schema: z.unknown().optional() }))
    .optional(),
  max_tokens: z.number().int().positive().optional(),
  stream: z.boolean().optional(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).optional(),
  output_config: z
    .looseObject({ format: z.looseObject({ schema: z.unknown().optional() }).nullish() })
    .optional(),
});

export type MessagesRequest = z.infer<typeof messagesRequest>;
export type ContentBlock = z.infer<typeof contentBlock>;
type Content = z.infer<typeof content>;

/** The text of a content in either of its two forms. */
export function textOf(value: Content | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  return value.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('\n');
}
