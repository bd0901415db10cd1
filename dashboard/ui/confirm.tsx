import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { type Failure, failureOf } from './failure.ts';
import { FailureNote } from './failure-note.tsx';

interface ConfirmButtonProps {
  /** The text of the button and of the confirmation. */
  action: string;
  title: string;
  /** What the action does, and what cannot be undone. */
  children: ComponentChildren;
  onConfirm: () => Promise<void>;
}

/** A button for an action that cannot be undone. It asks first. */
export function ConfirmButton({ action, title, children, onConfirm }: ConfirmButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const failure = useSignal<Failure | null>(null);
  const isBusy = useSignal(false);

  async function confirm(): Promise<void> {
    isBusy.value = true;
    failure.value = null;
    try {
      await onConfirm();
      dialog.current?.close();
    } catch (error) {
      failure.value = failureOf(error);
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <>
      <button type="button" class="danger" onClick={() => dialog.current?.showModal()}>
        {action}
      </button>
      <dialog ref={dialog} aria-label={title}>
        <h2>{title}</h2>
        {children}
        {failure.value !== null && <FailureNote failure={failure.value} />}
        <div class="row end">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button
            type="button"
            class="danger solid"
            disabled={isBusy.value}
            onClick={() => void confirm()}
          >
            {action}
          </button>
        </div>
      </dialog>
    </>
  );
}
