import { defineWorkflow, inputOf } from '@sluice/sdk';
import { assemble, publish, split, translate } from './tasks.ts';

export const twoSteps = defineWorkflow(
  'two-steps',
  { version: 1, input: inputOf<{ text: string }>() },
  (w) => {
    const translated = w.step('translate', translate, { text: w.input.text });
    return w.step('publish', publish, { text: translated.output.text });
  },
);

export const translateText = defineWorkflow(
  'translate-text',
  { version: 1, input: inputOf<{ text: string }>() },
  (w) => {
    const cut = w.step('split', split, { text: w.input.text });
    const chunks = w.map(cut.output.chunks, translate, { name: 'chunks' });
    return w.step('assemble', assemble, { parts: chunks.outputs.text });
  },
);

export const publishText = defineWorkflow(
  'publish-text',
  { version: 1, input: inputOf<{ text: string }>() },
  (w) => {
    const translated = w.subWorkflow('translation', translateText, { text: w.input.text });
    const review = w.human<{ approved: boolean }>('review', { text: translated.output.text });
    const decided = w.switch(
      review.output.approved,
      { true: (w) => w.step('publish', publish, { text: translated.output.text }) },
      (w) => w.terminate({ status: 'failed', reason: 'the translation was declined' }),
    );
    return { url: decided.true.output.url };
  },
);
