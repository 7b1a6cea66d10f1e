/** A field for JSON that says what is wrong while one types. */
import { useId } from 'react';

export type Parsed = { readonly value: unknown } | { readonly problem: string };

export function parsedJson(text: string): Parsed {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (cause) {
    return { problem: (cause as Error).message };
  }
}

interface JsonFieldProps {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly rows?: number;
}

export function JsonField({ label, text, onText, rows = 10 }: JsonFieldProps) {
  const id = useId();
  const parsed = parsedJson(text);
  const problem = 'problem' in parsed ? parsed.problem : '';
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        spellCheck={false}
        value={text}
        aria-invalid={problem !== ''}
        aria-describedby={`${id}-problem`}
        onChange={(event) => onText(event.target.value)}
      />
      <span id={`${id}-problem`} className="small problem" role="status">
        {problem}
      </span>
    </div>
  );
}
