import type { CallToolResult } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { mcpLimits } from '../../core/agent/mcp-limits.ts';
import { sleep } from '../../lib/async/sleep.ts';
import type { runWithPrompt } from '../runs/run-schema.ts';
import type { CallApi } from './call-api.ts';
import { dataOf, failureOf, firstPart, firstPartOf, success } from './tool-result.ts';

type ReadRun = z.infer<typeof runWithPrompt>;

interface Wait {
  runId: string;
  seconds: number;
}

/**
 * Waits until the run ends, asks a question, or `seconds` have passed, and no longer than its
 * client. Returns its state for the model. With `isStarted` the run exists, so an error while
 * waiting does not hide its ID.
 */
export async function waitForRun(
  callApi: CallApi,
  { runId, seconds, isStarted = false }: Wait & { isStarted?: boolean },
): Promise<CallToolResult> {
  const deadline = performance.now() + seconds * 1_000;
  for (let pauseMs: number = mcpLimits.pollMinMs; ; pauseMs *= 2) {
    const response = await callApi({ method: 'GET', path: `/api/v1/runs/${runId}` });
    const run = dataOf(response) as ReadRun | null;
    if (run === null)
      return isStarted ? success({ runId, hasEnded: false, next }) : failureOf(response);
    const leftMs = deadline - performance.now();
    const state = success({ ...outcomeOf(run), ...nextStep(run) });
    if (run.finishedAt !== null || run.interactions.length > 0 || leftMs <= 0) return state;
    await sleep(Math.min(pauseMs, mcpLimits.pollMaxMs, leftMs), callApi.signal);
    if (callApi.signal.aborted) return state;
  }
}

const next = 'The run has not ended: call run_status.';

function outcomeOf(run: ReadRun) {
  const { runId, flowId, finishedAt, exitCode, error, result, structuredOutput, costUsd } = run;
  if (finishedAt === null) return { runId, flowId, hasEnded: false, costUsd };
  return {
    runId,
    flowId,
    hasEnded: true,
    exitCode,
    ...(error === null ? {} : { error }),
    result: result === null ? null : firstPart(result),
    ...(structuredOutput === null ? {} : { structuredOutput: firstPartOf(structuredOutput) }),
    costUsd,
  };
}

function nextStep({ finishedAt, interactions, sessionId }: ReadRun) {
  if (interactions.length > 0) {
    const questions = interactions.map(({ interactionId, questions: asked }) => ({
      interactionId,
      questions: asked,
    }));
    return {
      questions: firstPartOf(questions),
      next: 'The agent waits for an answer: call answer_question.',
    };
  }
  if (finishedAt !== null) return {};
  return { next: sessionId === null ? next : 'It is a chat session: call chat.' };
}
