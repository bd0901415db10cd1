import { createContext } from 'preact';
import type { Answers } from '../../client/runs/run.ts';

type Answer = (interactionId: string, answers: Answers) => Promise<void>;

/** How a question is answered; null where the reader can only read. */
export const AnswerContext = createContext<Answer | null>(null);
