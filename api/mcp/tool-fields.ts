// Arguments that several tools share.

import { z } from 'zod';
import { toolLimits } from '../../core/agent/tool-limits.ts';

export const runId = z.uuid().describe('The ID returned by the tool that started the run.');

export const waitSeconds = z
  .int()
  .min(0)
  .max(toolLimits.waitMaxSeconds)
  .default(toolLimits.waitMaxSeconds)
  .describe('Seconds to wait for the end of the run.');

export const prompt = z.string().min(1).describe("The task. Default: the flow's prompt.");

export const idempotencyKey = z
  .string()
  .optional()
  .describe('A repeated call with the same key returns the same run.');

export const flow = z.string().min(1).describe('The name or the ID of a flow.');
