/** Dialogs: the browser's own element keeps the focus inside and gives it back. */
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './parts.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog?.open === false) dialog.showModal();
  }, []);
  return (
    <dialog ref={ref} data-wide={wide} aria-labelledby={id} onClose={onClose}>
      <div className="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly action: string;
  readonly danger?: boolean;
  readonly isBusy?: boolean;
  readonly isBlocked?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Confirm(props: ConfirmProps) {
  const { title, action, danger = false, isBusy = false, isBlocked = false } = props;
  return (
    <Dialog title={title} onClose={props.onClose}>
      {props.children}
      <div className="dialog-foot">
        <Button onClick={props.onClose}>Back</Button>
        <Button
          kind={danger ? 'danger-primary' : 'primary'}
          disabled={isBusy || isBlocked}
          onClick={props.onConfirm}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
