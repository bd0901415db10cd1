import { signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { type Failure, failureOf } from '../ui/failure.ts';
import { FailureNote } from '../ui/failure-note.tsx';
import { Skeleton } from '../ui/skeleton.tsx';

/** A screen whose script is loaded when the screen is opened for the first time. */
export function lazyScreen<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  const loaded = signal<{ Screen: FunctionComponent<Props> } | null>(null);
  const failure = signal<Failure | null>(null);

  async function start(): Promise<void> {
    failure.value = null;
    try {
      loaded.value ??= { Screen: await load() };
    } catch (error) {
      failure.value = failureOf(error);
    }
  }

  return function LazyScreen(props: Props) {
    useEffect(() => void start(), []);
    if (failure.value !== null) {
      return <FailureNote failure={failure.value} onRetry={() => void start()} />;
    }
    if (loaded.value === null) return <Skeleton what="the screen" />;
    const { Screen } = loaded.value;
    return <Screen {...props} />;
  };
}
