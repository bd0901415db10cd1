import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import { maxCharacters, text, uuidLike } from '../../schemas/text.ts';

const answer = () =>
  text()
    .min(1)
    .check(maxCharacters(limits.interaction.answerMaxChars))
    .meta({ maxLength: limits.interaction.answerMaxChars });

export const interactionParams = z.object({ runId: uuidLike(), interactionId: z.string() });

export const answersBody = z.strictObject({
  answers: z
    .record(
      z.string(),
      z.union([answer(), z.array(answer()).min(1).max(limits.interaction.questionsMax)]),
    )
    .meta({
      description:
        'The answers by the text of their questions, one for each question. An answer is the label of an option, or free text. For a question with `multiSelect` it is a list.',
    }),
});

/** An unanswered question of the agent. */
export const pendingInteraction = z
  .object({
    interactionId: z.string(),
    toolName: z.string(),
    questions: z.array(z.record(z.string(), z.unknown())).meta({
      description:
        'The questions as the agent asks them, with `question`, `header`, `options` and `multiSelect`.',
    }),
    askedAt: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'PendingInteraction' });

export const answeredInteraction = z
  .object({
    runId: z.uuid(),
    interactionId: z.string(),
    answers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  })
  .meta({ id: 'AnsweredInteraction' });
