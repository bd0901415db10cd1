import type { Run } from '../../../client/index.ts';
import { CliError } from '../../format-error.ts';
import { type Connection, lastRunId } from '../connection.ts';

/** Among how many of the newest runs a name or a prefix is searched. */
const searchedMax = 1_000;
const pageSize = 200;
/** So many characters of an ID are unique in practice: the search ends with the first match. */
const safePrefixChars = 8;

/**
 * Finds a run by its ID or a unique prefix of it, by its name, or by the ID of its session. `@` is
 * the run that was started last.
 */
export async function findRun({ flowrun, url }: Connection, reference: string): Promise<Run> {
  if (reference === '') throw new CliError('The run is missing.');
  if (reference === '@') return flowrun.getRun(lastRunId(url));
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(reference))
    return flowrun.getRun(reference);
  const matches: Run[] = [];
  const prefix = reference.toLowerCase();
  let searched = 0;
  for await (const run of flowrun.runs({ pageSize })) {
    const { name, sessionId } = run.record;
    const hasId = run.runId.startsWith(prefix);
    if (hasId || name === reference || sessionId === reference) matches.push(run);
    if (hasId && prefix.length >= safePrefixChars) return run;
    searched += 1;
    if (searched === searchedMax) break;
  }
  const [match, another] = matches;
  if (match === undefined)
    throw new CliError(
      `No run ${reference} among the newest ${searchedMax}: see \`flowrun runs\`.`,
    );
  if (another === undefined) return match;
  const ids = matches.slice(0, 5).map(({ runId }) => runId);
  throw new CliError(`${reference} matches ${matches.length} runs: ${ids.join(', ')} …`);
}

export const runHelp = 'ID or unique prefix, name, or @ for the last one';

/** Enough of the ID for people; `findRun` accepts it. */
export const shortId = (runId: string): string => runId.slice(0, safePrefixChars);
