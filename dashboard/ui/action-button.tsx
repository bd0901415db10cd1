import { useSignal } from '@preact/signals';
import { type Failure, failureOf } from './failure.ts';
import { FailureNote } from './failure-note.tsx';

interface ActionButtonProps {
  children: string;
  class?: string;
  title?: string;
  onAction: () => Promise<unknown>;
}

/** A button whose action can fail. The failure is shown beside it. */
export function ActionButton({ children, title, onAction, ...props }: ActionButtonProps) {
  const failure = useSignal<Failure | null>(null);
  const isBusy = useSignal(false);

  async function act(): Promise<void> {
    isBusy.value = true;
    failure.value = null;
    try {
      await onAction();
    } catch (error) {
      failure.value = failureOf(error);
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <>
      <button
        type="button"
        class={props.class ?? ''}
        title={title}
        disabled={isBusy.value}
        onClick={() => void act()}
      >
        {children}
      </button>
      {failure.value !== null && <FailureNote failure={failure.value} />}
    </>
  );
}
