import type { Run, RunDetails, RunEvent } from '../../../client/index.ts';
import { stripControlCodes } from '../../../core/sanitize-text.ts';
import { CliError } from '../../format-error.ts';
import { note, write } from '../../print.ts';
import { exitCodeOf } from '../exit-codes.ts';
import { shortId } from './find-run.ts';

interface Following {
  signal?: AbortSignal;
  onEvent?: (event: RunEvent) => void;
}

/** Waits for the end of a run, over any number of disconnects. */
export async function followToEnd(run: Run, { signal, onEvent }: Following): Promise<RunDetails> {
  for await (const event of run.events(signal === undefined ? {} : { signal })) onEvent?.(event);
  return run.read();
}

/** Shows what a terminal of the agent would show, and its questions. */
export function progressOn(output: NodeJS.WriteStream, runId: string): (event: RunEvent) => void {
  return (event) => {
    if (event.type === 'output') output.write(event.data.data);
    noteQuestions(event, runId);
  };
}

/** A run waits until its question is answered. */
export function noteQuestions(event: RunEvent, runId: string): void {
  if (event.type !== 'interaction') return;
  const texts = event.data.questions.map(({ question }) => question);
  note(stripControlCodes(`The agent asks: ${texts.join(' ')}`));
  note(`Answer it: flowrun answer ${shortId(runId)}`);
}

/** One line of JSON per event, with the members of an entry of the log. */
export function printEvent(event: RunEvent): void {
  const { seq, data } = event;
  write(JSON.stringify({ seq, event: event.type === 'unknown' ? event.name : event.type, data }));
}

/** The answer: the structured output if the run has one, or else the agent's last text. */
export function printAnswer(run: RunDetails): void {
  const { structuredOutput, result } = run;
  const text = structuredOutput === null ? result : JSON.stringify(structuredOutput);
  if (text === null || text === '') return;
  write(process.stdout.isTTY ? stripControlCodes(text) : text);
}

/** Fails with the exit code of the run's end if it is not clean. */
export function requireCleanEnd({ runId, error }: RunDetails): void {
  const exitCode = exitCodeOf(error);
  if (exitCode !== 0) throw new CliError(`Run ${shortId(runId)} has ended: ${error}`, { exitCode });
}
