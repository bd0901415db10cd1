import type { ComponentChildren } from 'preact';
import { FailureNote } from './failure-note.tsx';
import type { Loading } from './loading.ts';
import { Skeleton } from './skeleton.tsx';

interface LoadedProps<T> {
  loading: Loading<T>;
  /** What is read, for those who cannot see the skeleton. */
  what?: string;
  children: (value: T) => ComponentChildren;
}

/** What was read, or what is there instead. */
export function Loaded<T>({ loading, what = 'the list', children }: LoadedProps<T>) {
  const { value, failure, reload } = loading;
  return (
    <>
      {failure !== null && <FailureNote failure={failure} onRetry={reload} />}
      {value === null && failure === null && <Skeleton what={what} />}
      {value !== null && children(value)}
    </>
  );
}
