import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Failure, failureOf } from './failure.ts';

export interface Loading<T> {
  /** Null until it is there. It stays while it is read again. */
  value: T | null;
  failure: Failure | null;
  reload(): void;
}

/** Reads something when the component is shown, and again when one of the values has changed. */
export function useLoading<T>(
  read: (signal: AbortSignal) => Promise<T>,
  changes: readonly unknown[],
): Loading<T> {
  const value = useSignal<T | null>(null);
  const failure = useSignal<Failure | null>(null);
  const attempt = useSignal(0);
  useEffect(() => {
    const stopping = new AbortController();
    void load({ read, value, failure, signal: stopping.signal });
    return () => stopping.abort();
  }, [attempt.value, ...changes]);
  return {
    value: value.value,
    failure: failure.value,
    reload() {
      attempt.value += 1;
    },
  };
}

interface Load<T> {
  read: (signal: AbortSignal) => Promise<T>;
  value: Signal<T | null>;
  failure: Signal<Failure | null>;
  signal: AbortSignal;
}

async function load<T>({ read, value, failure, signal }: Load<T>): Promise<void> {
  try {
    const loaded = await read(signal);
    if (signal.aborted) return;
    value.value = loaded;
    failure.value = null;
  } catch (error) {
    if (!signal.aborted) failure.value = failureOf(error);
  }
}

/** All items of a list, up to a number that a screen can show. */
export async function collect<T>(items: AsyncIterable<T>, max = 1_000): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) {
    collected.push(item);
    if (collected.length === max) break;
  }
  return collected;
}
