import type { ComponentChildren } from 'preact';
import { FailureNote } from './failure-note.tsx';
import type { Loading } from './loading.ts';

interface LoadedProps<T> {
  loading: Loading<T>;
  children: (value: T) => ComponentChildren;
}

/** What was read, or what is there instead. */
export function Loaded<T>({ loading, children }: LoadedProps<T>) {
  const { value, failure, reload } = loading;
  return (
    <>
      {failure !== null && <FailureNote failure={failure} onRetry={reload} />}
      {value === null && failure === null && <div class="skeleton" aria-busy="true" />}
      {value !== null && children(value)}
    </>
  );
}
