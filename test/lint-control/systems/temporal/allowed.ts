// breaks: nothing
import type { RunInput } from '../../workflows/messages.ts';

export type Input = RunInput;
