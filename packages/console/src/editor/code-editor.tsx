/**
 * An editor for JSON and YAML with line numbers, colours, and problems at their places. It is
 * loaded when somebody writes a definition.
 *
 * It lives in a shadow root: there the library puts its styles into style sheets that scripts
 * make, which the policy of the server allows, instead of `style` elements, which it forbids.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { LOOK } from './editor-look.ts';
import { isJson, type Problem, placesOf, syntaxProblem } from './problem-places.ts';

interface CodeEditorProps {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  /** What the server says about the text; those of an older text stay at their places. */
  readonly problems: readonly Problem[];
}

export function CodeEditor({ label, text, onText, problems }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor>(undefined);
  const listener = useRef(onText);
  const first = useRef({ label, text });
  useLayoutEffect(() => {
    listener.current = onText;
  });
  useLayoutEffect(() => {
    if (host.current === null) return;
    const made = new Editor(host.current, first.current, (changed) => listener.current(changed));
    editor.current = made;
    return () => made.close();
  }, []);
  useEffect(() => editor.current?.show(text), [text]);
  useEffect(() => editor.current?.mark(text, problems), [text, problems]);
  return <div ref={host} className="code-editor" />;
}

/** The editor of the library, as far as it is used here. */
class Editor {
  private readonly view: EditorView;
  private readonly language = new Compartment();
  private isJson: boolean;

  constructor(
    host: HTMLElement,
    { label, text }: { readonly label: string; readonly text: string },
    onText: (text: string) => void,
  ) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    this.isJson = isJson(text);
    const extensions = [
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      // Also characters that change the order of others: a text must be what it looks like.
      highlightSpecialChars(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      indentOnInput(),
      bracketMatching(),
      keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
      EditorState.tabSize.of(2),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      this.language.of(languageOf(this.isJson)),
      LOOK,
      TYPE_OVER,
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) onText(state.doc.toString());
      }),
    ];
    const state = EditorState.create({ doc: text, extensions });
    this.view = new EditorView({ state, root, parent: root });
  }

  /** Replaces the text, unless it is what was typed. */
  show(text: string): void {
    const { doc } = this.view.state;
    if (text !== doc.toString()) {
      this.view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
    }
    if (isJson(text) === this.isJson) return;
    this.isJson = !this.isJson;
    this.view.dispatch({ effects: this.language.reconfigure(languageOf(this.isJson)) });
  }

  mark(text: string, problems: readonly Problem[]): void {
    if (text !== this.view.state.doc.toString()) return;
    this.view.dispatch(setDiagnostics(this.view.state, diagnosticsOf(text, problems)));
  }

  close(): void {
    this.view.destroy();
  }
}

/**
 * Typing over a coloured selection: Chromium would keep the colour in a `style` attribute, which
 * the policy of the server forbids. So the editor replaces the text itself.
 */
const TYPE_OVER = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { inputType, data, isComposing } = event as InputEvent;
    if (inputType !== 'insertText' || data === null || isComposing) return false;
    const { from, to } = selectedIn(view);
    if (from === to) return false;
    view.dispatch({
      changes: { from, to, insert: data },
      selection: { anchor: from + data.length },
      userEvent: 'input.type',
      scrollIntoView: true,
    });
    return true;
  },
});

/**
 * What is selected in the document: the state of the editor hears of a selection only after it
 * was made, which may be after the next key.
 */
function selectedIn(view: EditorView): { readonly from: number; readonly to: number } {
  const selection = (view.root as SelectingRoot).getSelection?.() ?? null;
  if (selection === null || selection.rangeCount === 0) return view.state.selection.main;
  const { startContainer, startOffset, endContainer, endOffset } = selection.getRangeAt(0);
  if (!view.contentDOM.contains(startContainer) || !view.contentDOM.contains(endContainer)) {
    return view.state.selection.main;
  }
  return {
    from: view.posAtDOM(startContainer, startOffset),
    to: view.posAtDOM(endContainer, endOffset),
  };
}

/** Chromium, which needs it, has selections of shadow roots; other browsers do not. */
interface SelectingRoot {
  getSelection?(): Selection | null;
}

function languageOf(isJsonText: boolean) {
  return isJsonText ? json() : yaml();
}

function diagnosticsOf(text: string, problems: readonly Problem[]): Diagnostic[] {
  const syntax = syntaxProblem(text);
  if (syntax !== undefined) return [{ ...syntax, severity: 'error' }];
  const places = placesOf(
    text,
    problems.map(({ path }) => path),
  );
  const found = problems.map(({ path, message, severity }, index): Diagnostic => {
    return { ...places[index], severity, message: path === '' ? message : `${path} ${message}` };
  });
  return found.sort((a, b) => a.from - b.from);
}
