// Arguments that several tools share.

import { z } from 'zod';
import { mcpLimits } from '../../core/agent/mcp-limits.ts';

export const runId = z.uuid().describe('The ID returned by the tool that started the run.');

export const waitSeconds = z
  .int()
  .min(0)
  .max(mcpLimits.waitMaxSeconds)
  .default(mcpLimits.waitMaxSeconds)
  .describe('Seconds to wait for the end of the run.');

export const prompt = z.string().min(1).describe("The task. Default: the flow's prompt.");

export const idempotencyKey = z
  .string()
  .optional()
  .describe('A repeated call with the same key returns the same run.');

export const flow = z.string().min(1).describe('The name or the ID of a flow.');
