import { now } from './clock.ts';
import { ageText, durationText } from './format.ts';

/** How long ago something was. The title has the time itself. */
export function Age({ at }: { at: string }) {
  const ms = now.value - Date.parse(at);
  return (
    <time dateTime={at} title={absoluteText(at)}>
      {ageText(ms)}
    </time>
  );
}

/** The time between two moments, or until now. */
export function Elapsed({ from, to }: { from: string; to: string | null }) {
  const end = to === null ? now.value : Date.parse(to);
  return <span class="number">{durationText(end - Date.parse(from))}</span>;
}

export function Moment({ at }: { at: string | null }) {
  return at === null ? <span class="muted">–</span> : <time dateTime={at}>{absoluteText(at)}</time>;
}

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

const absoluteText = (at: string): string => format.format(new Date(at));
