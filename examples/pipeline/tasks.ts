import { defineTask, PermanentFailure } from '@sluice/sdk';

/** Cuts a text into its paragraphs. */
export const split = defineTask({
  type: 'split',
  run: (input: { text: string }) => ({
    chunks: input.text.split('\n\n').map((text) => ({ text })),
  }),
});

/** Stands for a slow call to a translation service. */
export const translate = defineTask({
  type: 'translate',
  retry: { maxAttempts: 3, delayMs: 1000 },
  run(input: { text: string }) {
    // Trying again would not help.
    if (input.text.trim() === '') throw new PermanentFailure('there is nothing to translate');
    return { text: input.text.toUpperCase() };
  },
});

export const assemble = defineTask({
  type: 'assemble',
  run: (input: { parts: readonly string[] }) => ({ text: input.parts.join('\n\n') }),
});

export const publish = defineTask({
  type: 'publish',
  run: (input: { text: string }) => ({ url: `https://example.com/${input.text.length}` }),
});
