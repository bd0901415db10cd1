import { isDeepStrictEqual } from 'node:util';
import { type Answers, questionsOf } from '../../../core/agent/interaction.ts';
import type { AuditActor } from '../../../core/audit/audit-entry.ts';
import { limits } from '../../../core/limits.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { StoredInteraction } from '../../../systems/postgres/runs/interaction-store.ts';
import { type App, accessOf } from '../../app-types.ts';
import { forRunCallers } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalid, notFound } from '../../errors.ts';
import { authorOf } from '../../operators/audit/record-change.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { loadRun } from '../load-run.ts';
import { noQuery } from '../run-schema.ts';
import { answeredInteraction, answersBody, interactionParams } from './interaction-schema.ts';

const schema = {
  operationId: 'answerInteraction',
  summary: 'Answer a question of the agent',
  params: interactionParams,
  querystring: noQuery,
  body: answersBody,
  response: {
    200: enveloped(answeredInteraction),
    ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503),
  },
};

/** The first answer is final. Repeating it succeeds; a different one is rejected. */
export function answerInteraction(app: App, deps: ApiDeps): void {
  const path = '/api/v1/runs/:runId/interactions/:interactionId';
  app.post(path, { config: forRunCallers('run', 'chat'), schema }, async (request) => {
    const run = await loadRun(deps, request.params.runId, accessOf(request));
    const { answers } = request.body;
    const { runId } = run;
    const interaction = await findInteraction(deps, runId, request.params.interactionId);
    const isAnswered = interaction.answers !== null;
    const author = authorOf(request);
    if (!isAnswered) await storeAnswers(deps, { run, interaction, author }, answers);
    else if (!isDeepStrictEqual(interaction.answers, answers)) throw answerConflict();
    const delivery = await notifyHost(deps, run, interaction);
    const { interactionId } = interaction;
    request.log.info({ runId, interactionId, isAnswered, delivery }, 'interaction_answered');
    return { data: { runId, interactionId, answers } };
  });
}

const answerConflict = () => invalid('The question already has a different answer.');

async function findInteraction(
  { interactions }: Pick<ApiDeps, 'interactions'>,
  runId: string,
  interactionId: string,
): Promise<StoredInteraction> {
  const found = await interactions.find(runId, interactionId);
  if (found === null) throw notFound('Interaction');
  return found;
}

interface Answered {
  run: Run;
  interaction: StoredInteraction;
  author: AuditActor | undefined;
}

/** If two answers are concurrent, the later one is compared with the first. */
async function storeAnswers(
  { interactions }: Pick<ApiDeps, 'interactions'>,
  { run, interaction, author }: Answered,
  answers: Answers,
): Promise<void> {
  if (run.endedAt !== null) throw invalid('The run has ended.');
  checkAnswers(interaction, answers);
  const { interactionId } = interaction;
  if (await interactions.answer({ runId: run.runId, interactionId, answers, author })) return;
  const { answers: first } = await findInteraction({ interactions }, run.runId, interactionId);
  if (first === null) throw invalid('The agent is no longer waiting for this answer.');
  if (!isDeepStrictEqual(first, answers)) throw answerConflict();
}

function checkAnswers({ input }: StoredInteraction, answers: Answers): void {
  const questions = new Map(questionsOf(input).map((one) => [String(one['question']), one]));
  for (const [text, answer] of Object.entries(answers)) {
    const question = questions.get(text);
    if (question === undefined) throw invalid(`body.answers: unknown question ${quoted(text)}`);
    const isList = typeof answer !== 'string';
    if (isList && question['multiSelect'] !== true) {
      throw invalid(`body.answers: the question ${quoted(text)} takes a single answer`);
    }
  }
  const missing = [...questions.keys()].find((text) => !Object.hasOwn(answers, text));
  if (missing !== undefined) throw invalid(`body.answers: ${quoted(missing)} is not answered`);
}

const quoted = (text: string): string =>
  JSON.stringify(text.slice(0, limits.http.reportedFieldMaxChars));

/** The answer is stored: an unreachable host reads it when it is back. */
async function notifyHost(
  { hostRpc }: Pick<ApiDeps, 'hostRpc'>,
  run: Run,
  { outcome }: StoredInteraction,
): Promise<string> {
  const { hostId, endedAt } = run;
  if (hostId === null || endedAt !== null || outcome !== null) return 'not_needed';
  const request = { hostId, run, kind: 'answer_interaction', payload: {} } as const;
  const response = await hostRpc.call(request, { timeoutMs: limits.interaction.deliveryTimeoutMs });
  return response.outcome;
}
