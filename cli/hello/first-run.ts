import { CliError } from '../format-error.ts';
import { note } from '../print.ts';
import { openClient } from '../remote/connection.ts';
import { exitCodeOf, exitCodes } from '../remote/exit-codes.ts';
import { followToEnd, progressOn } from '../remote/runs/follow-run.ts';
import { helloName, helloPrompt } from './prepare-first-run.ts';

interface FirstRun {
  runId: string;
  result: string | null;
  files: string[];
  /** The offline model has answered. */
  offlineModel: boolean;
}

/** A changed flow may leave many files. */
const shownFilesMax = 10;

/** Starts a run over HTTP as a client does, and shows its progress until its end. */
export async function startFirstRun({
  url,
  key,
  flowId,
}: {
  url: string;
  key: string;
  flowId: string;
}): Promise<FirstRun> {
  const flowrun = await openClient({ url, key });
  const run = await flowrun.run(flowId, { prompt: helloPrompt, name: helloName });
  const { runId } = run;
  note(`Started the run ${runId}.\n`);
  const ended = await followToEnd(run, { onEvent: progressOn(process.stderr, runId) });
  const exitCode = exitCodeOf(ended.error);
  if (exitCode !== exitCodes.completed)
    throw new CliError(
      `The run has ended: ${ended.error ?? ''}\nTo find the cause: flowrun doctor`,
      { exitCode },
    );
  const files: string[] = [];
  for await (const { path } of run.files.list()) {
    files.push(path);
    if (files.length === shownFilesMax) break;
  }
  note(`\nThe run has completed. Its files: ${files.join(', ') || 'none'}`);
  return { runId, result: ended.result, files, offlineModel: ended.offlineModel === true };
}
